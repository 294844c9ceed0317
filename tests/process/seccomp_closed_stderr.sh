#!/bin/sh
# A program that closes its standard streams gets its dumps, though a filter forbids F_DUPFD.
. tests/lib.sh

build confined tests/process/seccomp_closed_stderr.c
LEAKWRAP_OPTIONS=log=$W/log "$W/confined" &
pid=$!
wait $pid
status=$?
[ $status != 77 ] || skip "no seccomp filters here"
equal "status" $status 0
for n in 1 2; do
	dump_is_whole "$W/log" $pid.$n || fail "dump $n is not whole"
	equal "dump $n" "$(dump_value "$W/log" $pid.$n live_bytes)" 100
done
