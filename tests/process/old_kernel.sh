#!/bin/sh
# On a kernel without newer system calls nothing is lost: the dumps say what they say elsewhere.
#
# The calls that came after Linux 2.6.32 fail. A dump tells lost from reachable memory in a process
# with threads: that takes more kinds of calls than anything else.
. tests/lib.sh

$CC -O1 -o "$W/old_kernel" tests/process/old_kernel.c || fail "cannot compile old_kernel"
"$W/old_kernel" /bin/true
[ $? -ne 77 ] || skip "no seccomp filters here"

# kinds_of RUN...: prints the call sites of the program's dump, each with its kind.
kinds_of() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log:signal=none" "$@" || fail "$*: status $?"
	dump_lines "$W/log" 1 | awk '
		/^site / { kind = $NF; sub("=.*", "", kind) }
		/^ *#0 / { sub(/\+0x.*/, "", $3); print $3, kind }' | sort
}

# check WHAT COMPILER FLAG...
check() {
	what=$1
	shift
	# shellcheck disable=SC2046,SC2086 # lists of flags
	"$@" $CFLAGS_FOR_TESTS -o "$W/roots" tests/reach/roots.c \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) -pthread \
		2>"$W/link" || fail "$what: $(tail -n 5 "$W/link")"
	kinds_of "$W/roots" >"$W/wanted"
	kinds_of "$W/old_kernel" "$W/roots" >"$W/got"
	[ "$(grep -c '^lose_.* definite' "$W/got")" -ge 7 ] || fail "$what: $(cat "$W/got")"
	diff -U 0 "$W/wanted" "$W/got" >"$W/differing" || fail "$what: $(cat "$W/differing")"
	tried="$tried, $what"
}

tried='' lib=$O/libleakwrap.a
check dynamic "$CC"
check static "$CC" -static
if command -v musl-gcc >"$W/found"; then
	runtime x86_64-linux-musl CC=musl-gcc
	check musl musl-gcc -static
else
	echo "musl is left out: no musl-gcc"
fi
triple=i686-linux-gnu
loader=/usr/$triple/lib/ld-linux.so.2
if "$loader" --verify "$loader" >"$W/found" 2>&1 || [ $? -lt 126 ]; then
	runtime "$triple" CROSS_COMPILE="$triple-"
	check i386 "$triple-gcc" -static
else
	echo "i386 is left out: this machine does not run its programs"
fi
echo "tried: ${tried#, }"
