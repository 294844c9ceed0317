#!/bin/sh
# A mangled name of C++, Rust or D that stands for gigabytes, or takes years to demangle, is shown
# mangled, in little time and memory; other names are demangled.
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

# explosive_rust FORM LEVELS: a name of Rust.  "plain" has tuples that hold the tuple before them
# twice; "silent" has more lifetimes than a computer counts, in a part that is not shown; "nested"
# has references to references.
explosive_rust() {
	awk -v form="$1" -v levels="$2" '
		function backref(n,   digits) { # to byte n behind "_R", in base 62
			if (n-- == 0)
				return "B_"
			for (digits = ""; n > 0 || digits == ""; n = int(n / 62))
				digits = substr("0123456789abcdefghijklmnopqrstuvwxyz" \
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ", n % 62 + 1, 1) digits
			return "B" digits "_"
		}
		BEGIN {
			name = "INvC1a1b"
			last = length(name)
			name = name "u"
			for (i = 1; i <= levels; i++) {
				to = backref(last)
				last = length(name)
				name = name (form == "plain" ? "T" to to "E" : "")
			}
			if (form == "nested")
				for (i = 1; i <= levels; i++)
					name = name "R"
			if (form == "silent")
				name = "XINvC1a1bFGzzzzzzzzzz_EuEuC1a"
			print "_R" name (form == "nested" ? "u" : "") (form == "silent" ? "" : "E")
		}'
}

# explosive_d LEVELS: a name of D with tuples that hold the tuple before them twice.
explosive_d() {
	awk -v levels="$1" '
		function backref(n,   digits) { # to n bytes before, in base 26
			for (digits = sprintf("%c", n % 26 + 97); n >= 26;) {
				n = int(n / 26)
				digits = sprintf("%c", n % 26 + 65) digits
			}
			return "Q" digits
		}
		BEGIN {
			name = "_D1fF"
			last = length(name)
			name = name "Pi"
			for (i = 1; i <= levels; i++) {
				here = length(name)
				name = name "B2"
				name = name backref(length(name) - last)
				name = name backref(length(name) - last)
				last = here
			}
			print name "Zv"
		}'
}

# The tool's parent may have blocked or ignored the signal that ends the search for a name.
blocked=
! env --block-signal=VTALRM true 2>"$W/err" || blocked='env --block-signal=VTALRM'

# report NAME...: a call site through functions of these names
report() {
	named_dump "$@" >"$W/log"
	$blocked prlimit --as=1000000000 timeout 60 "$lw" report -f json "$W/log" \
		>"$W/out" 2>"$W/err" ||
		fail "status $? of $*: $(head -n 5 "$W/err")"
}

# stays LONG NAME SHOWN NAME SHOWN: the name LONG stays mangled, and the names before and behind it
# are shown demangled.
stays() {
	report "$2" "$1" "$4"
	shows "\"function\":\"$3\""
	shows "\"function\":\"$1\""
	shows "\"function\":\"$5\""
}

report _ZN3foo3barEi
shows '"function":"foo::bar(int)"'

small=$(explosive plain 3)
report "$small"
shows '"function":"f(void (\*)(int), '

for form in plain packed; do
	stays "$(explosive $form 60)" _ZN3foo3barEi 'foo::bar(int)' _ZN3foo3bazEi 'foo::baz(int)'
	said '^leakwrap: 1 mangled name is too large to demangle: shown mangled$'
done
# It is soon demangled, but too long; and a name whose beginning is a name is not cut.
for long in "$(explosive plain 13)" "_Z1fv.$(printf '%033000d' 0 | tr 0 a)"; do
	stays "$long" _ZN3foo3barEi 'foo::bar(int)' _ZN3foo3bazEi 'foo::baz(int)'
	said '^leakwrap: 1 mangled name is too large to demangle: shown mangled$'
done

has_libiberty || exit 0
# A long name is demangled, and one of too many levels for the stack is not.
report "_Z1fIJ$(printf '10abcdefghij%.0s' $(seq 300))EEvv"
shows '"function":"void f<abcdefghij, abcdefghij, .*, abcdefghij>()"'
stays "_Z1f$(printf 'P%.0s' $(seq 32000))i" _ZN3foo3barEi 'foo::bar(int)' \
	_ZN3foo3bazEi 'foo::baz(int)'
[ -z "$blocked" ] || blocked='env --ignore-signal=VTALRM'
report "$(explosive_rust plain 3)"
shows '"function":"a::b::<(), ((), ()), (((), ()), ((), ())), '
for form in plain silent; do
	stays "$(explosive_rust $form 60)" _RNvC1a1b a::b _RNvC1a1c a::c
	said '^leakwrap: 1 mangled name is too large to demangle: shown mangled$'
done
stays "$(explosive_rust nested 20000)" _RNvC1a1b a::b _RNvC1a1c a::c

report "$(explosive_d 2)"
shows '"function":"f(int\*, Tuple!(int\*, int\*), Tuple!(Tuple!(int\*, int\*), Tuple!('
stays "$(explosive_d 60)" _D1a1bFZv 'a.b()' _D1a1cFZv 'a.c()'
said '^leakwrap: 1 mangled name is too large to demangle: shown mangled$'
