#!/bin/sh
# A dump arrives in a process that does nothing.
#
# read then goes on as if nothing had happened. Calls that the kernel cannot restart return EINTR.
# The tracer holds little memory for one block: of its tables only the pages that it wrote, at most
# 16, whatever the size of a page is.
. tests/lib.sh

build_program_only idle tests/signal/idle_process.c
interrupted="pause sleep usleep poll select epoll_wait sigsuspend semop msgrcv accept"
for how in $interrupted read; do
	log=$W/$how.log
	mkfifo "$W/$how.pipe"
	: >"$W/$how.out" # the shell may search it before the program's shell has made it
	"$W/idle" "$how" <"$W/$how.pipe" >"$W/$how.out" 2>"$log" &
	pid=$!
	exec 3>"$W/$how.pipe"
	wait_until "$patience" grep -q waiting "$W/$how.out" || fail "$how: did not start"
	wait_for_sleep $pid
	kill -USR1 $pid
	wait_until "$patience" dump_is_whole "$log" 1 || {
		kill $pid
		fail "$how: no dump"
	}
	equal "$how: the block" "$(site_by "$log" 1 main)" "123 1"
	held=$(dump_value "$log" 1 tracer_bytes)
	[ "$held" -le $((16 * $(getconf PAGESIZE))) ] ||
		fail "$how: the tracer holds $held bytes for one block"
	equal "$how: the reason" "$(dump_value "$log" 1 reason)" signal
	[ "$how" != read ] || (trap '' PIPE && echo >&3) 2>/dev/null
	wait $pid || fail "$how: status $?"
done
equal "read" "$(tail -n 1 "$W/read.out")" "1 Success"
for how in $interrupted; do
	equal "$how" "$(tail -n 1 "$W/$how.out")" "-1 interrupted"
done
