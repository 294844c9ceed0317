#!/bin/sh
# explosive_names.sh - a mangled C++ name that stands for gigabytes, or takes years to demangle, is
# shown mangled, in little time and memory; other names are demangled.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need timeout prlimit

# explosive FORM LEVELS: a name in which each type holds the type before it twice; "packed" makes
# the demangler search all of it before it has written a byte.
explosive() {
	awk -v form="$1" -v levels="$2" '
		function seen(n,   digits) { # the n-th substitution, in base 36
			if (n-- == 0)
				return "S_"
			for (digits = ""; n > 0 || digits == ""; n = int(n / 36))
				digits = sprintf("%c", n % 36 + (n % 36 < 10 ? 48 : 55)) digits
			return "S" digits "_"
		}
		BEGIN {
			name = type = "PFviE"
			for (i = 1; i <= levels; i++) {
				name = name "PFv" seen(2 * i - 1) seen(2 * i - 1) "E"
				type = "PFv" type seen(2 * i) "E"
			}
			print form == "packed" ? "_Z1gIiEvDp" type : "_Z1f" name
		}'
}

# report NAME...: a call site through functions of these names
report() {
	echo "100 1 complete $(seq -f '0x%g0' -s ' ' $#)" |
		make_dump 7.1 2026-11-20T18:36:01Z /no/such/program 0x10000 none >"$W/log"
	frame=0
	for name; do
		sed -i "s/ #$frame \(0x[0-9a-f]*\) ? / #$frame \1 $name+0x12 /" "$W/log"
		frame=$((frame + 1))
	done
	prlimit --as=1000000000 timeout 60 "$lw" report -f json "$W/log" >"$W/out" 2>"$W/err" ||
		fail "status $? of $*: $(head -n 5 "$W/err")"
}

report _ZN3foo3barEi
shows '"function":"foo::bar(int)"'

small=$(explosive plain 3)
report "$small"
shows '"function":"f(void (\*)(int), '

for form in plain packed; do
	long=$(explosive $form 60)
	report _ZN3foo3barEi "$long" _ZN3foo3bazEi
	shows '"function":"foo::bar(int)"'
	shows "\"function\":\"$long\""
	shows '"function":"foo::baz(int)"'
	said '^leakwrap: 1 C++ name is too large to demangle: shown mangled$'
done
