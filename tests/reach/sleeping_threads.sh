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

for flags in '' -static; do
	# shellcheck disable=SC2086 # one or none
	build "sleeping$flags" $flags tests/reach/sleeping_threads.c
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/sleeping$flags" >"$W/out" ||
		fail "$flags: status $?"
	equal "$flags: calls that a dump has ended" "$(cat "$W/out")" ""
	equal "$flags: dumps" "$(dumps "$W/log" | wc -l)" 6
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:log=$W/log timeout 60 "$W/sleeping$flags" signals ||
		fail "$flags, signals: status $?"
	equal "$flags: dumps under signals" "$(dumps "$W/log" | wc -l)" 101
done
