#!/bin/sh
# A dump with kinds stops threads that sleep. They go on to sleep as if nothing had happened, and
# signals of the program end their system calls as before.
# timeout: 120
. tests/lib.sh

case $(uname -m) in
x86_64 | i?86) ;;
*) skip "the number of an interrupted system call is read on x86 alone" ;;
esac
[ -r /proc/self/task/$$/syscall ] || skip "the kernel does not tell system calls"

# check WHAT PROGRAM
check() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$2" >"$W/out" || fail "$1: status $?"
	equal "$1: calls that a dump has ended" "$(cat "$W/out")" ""
	equal "$1: dumps" "$(dumps "$W/log" | wc -l)" 6
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:log=$W/log timeout 60 "$2" signals ||
		fail "$1, signals: status $?"
	equal "$1: dumps under signals" "$(dumps "$W/log" | wc -l)" 101
}

for flags in '' -static; do
	# shellcheck disable=SC2086 # one or none
	build "sleeping$flags" $flags tests/reach/sleeping_threads.c
	check "this $flags" "$W/sleeping$flags"
done

triple=i686-linux-gnu
loader=/usr/$triple/lib/ld-linux.so.2
"$loader" --verify "$loader" >"$W/found" 2>&1 || [ $? -lt 126 ] ||
	skip "$triple is left out: this machine does not run its programs"
runtime "$triple" CROSS_COMPILE="$triple-"
# shellcheck disable=SC2046,SC2086 # lists of flags
"$triple-gcc" $CFLAGS_FOR_TESTS -static -o "$W/i386" tests/reach/sleeping_threads.c \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) -pthread 2>"$W/link" ||
	fail "$triple: $(tail -n 5 "$W/link")"
check "$triple" "$W/i386"
