#!/bin/sh
# After fork each process dumps for itself, even if another thread was inside the tracer.
#
# Each process numbers its dumps from 1, and its lines carry its PID. A dump has the blocks of its
# process alone.
# timeout: 180
. tests/lib.sh

build fork tests/process/fork.c
LEAKWRAP_OPTIONS=children=all:top=20:log=$W/log "$W/fork" &
pid=$!
wait $pid || fail "status $?"
log=$W/log
equal "dumps of the parent" "$(dumps "$log" | grep "^$pid\\." | tr '\n' ' ')" "$pid.1 $pid.2 "
equal "the parent's blocks" \
	"$(site_by "$log" $pid.1 in_parent), $(site_by "$log" $pid.1 in_child)" "30000 1, 0 0"
equal "what was before" "$(site_by "$log" $pid.1 before)" "100 1"
equal "dumps of the children" "$(dumps "$log" | grep -cv "^$pid\\.")" 200
for child in $(dumps "$log" | grep -v "^$pid\\." | head -n 5); do
	equal "the child's blocks" "$(site_by "$log" "$child" in_child)" "2000 1"
	equal "what the child inherits" "$(site_by "$log" "$child" before)" "100 1"
	equal "not the parent's" "$(site_by "$log" "$child" in_parent)" "0 0"
done
