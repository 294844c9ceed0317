#!/bin/sh
# All that a thread has lost is lost while it lives: what the tracer remembers of it, beside its
# stack, is no pointer of the program. The search in a core file agrees, also where the file does
# not say where the thread-local storage is: gdb leaves that out of core files of i386.
. tests/lib.sh
without_stale_pointers

# check_core PROGRAM
check_core() {
	rm -f "$W/core.log" "$W/gcore"
	report_of_core '' "$1"
	grep -q "definitely lost: 300 bytes in 3 blocks" "$W/out" ||
		fail "core of $1: $(head -n 20 "$W/out")"
}

for kind in -pie -static; do
	build living tests/reach/living_thread.c $kind
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/living" || fail "$kind: status $?"
	equal "$kind: lost" "$(dump_value "$W/log" 1 definite_bytes)" 300
done
check_core "$W/living"

triple=i686-linux-gnu
loader=/usr/$triple/lib/ld-linux.so.2
"$loader" --verify "$loader" >"$W/found" 2>&1 || [ $? -lt 126 ] ||
	skip "$triple is left out: this machine does not run its programs"
runtime "$triple" CROSS_COMPILE="$triple-"
# shellcheck disable=SC2046,SC2086 # lists of flags
"$triple-gcc" $CFLAGS_FOR_TESTS -static -o "$W/i386" tests/reach/living_thread.c \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) -pthread 2>"$W/link" ||
	fail "$triple: $(tail -n 5 "$W/link")"
check_core "$W/i386"
