#!/bin/sh
# A fork and a thread that holds a lock of the C library do not wait for each other.
#
# The fork waits for the thread's lock. Meanwhile the thread dumps in a handler, and allocates from
# a new stack. The child does the same.
# timeout: 60
. tests/lib.sh

for static in '' -static; do
	build "forking$static" $static tests/process/fork_deadlock.c
	for way in '' flush; do
		log=$W/log$static$way
		# A lock that is lent late takes two seconds each time. A busy machine does not.
		for _ in 1 2 3; do
			# shellcheck disable=SC2086 # no argument or one
			timeout -s KILL 20 "$W/forking$static" $way >"$W/out" 2>"$log"
			status=$?
			[ "$status" = 5 ] || break
		done
		[ "$status" = 0 ] || fail "forking$static $way: status $status: $(cat "$W/out")"
		for n in 1 2; do
			[ "$(dumps "$log" | grep -c "\.$n\$")" -ge 1 ] || fail "no dump $n"
		done
		parent=$(sed -n 's/^leakwrap\[\([0-9]*\)\.2\] dump .*reason=exit.*/\1/p' "$log" |
			head -n 1)
		equal "lost call sites" "$(dump_value "$log" "$parent.2" lost_call_sites)" 0
		equal "blocks$static $way" "$(site_by "$log" "$parent.2" allocate)" "50 5"
	done
done
