#!/bin/sh
# The copy of the process that finds lost memory disturbs no program, and each dump is written once.
#
# The program may wait for all kinds of children. Its next child may be the first process of a PID
# namespace: a copy in its place would end the namespace.
. tests/lib.sh

build copies tests/reach/copies.c
LEAKWRAP_OPTIONS=kinds=always:children=none "$W/copies" reaper 2>"$W/reaper" || fail "status $?"
equal "the reaper's dumps" "$(dumps "$W/reaper" | wc -l)" 4
for dump in 1 2 3 4; do
	dump_is_whole "$W/reaper" $dump || fail "dump $dump is not whole"
	[ -n "$(dump_value "$W/reaper" $dump definite_bytes)" ] || fail "dump $dump has no kinds"
done

LEAKWRAP_OPTIONS=kinds=always:children=none "$W/copies" namespace 2>"$W/namespace"
status=$?
[ $status -ne 77 ] || skip "the system refuses a PID namespace"
equal "the status of the namespace's first process" $status 3
dump_is_whole "$W/namespace" 1 || fail "no whole dump: $(cat "$W/namespace")"
[ -n "$(dump_value "$W/namespace" 1 definite_bytes)" ] || fail "the dump has no kinds"
