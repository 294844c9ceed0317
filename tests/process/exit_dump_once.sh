#!/bin/sh
# Each process image writes one exit dump, in whichever way it leaves.
#
# The dump comes after the atexit functions and destructors. A child that shares its parent's
# memory, or only repeats it, writes no dump.
. tests/lib.sh

for static in '' -static; do
	build "exits$static" $static tests/process/exit_dump_once.c

	# case, exit dumps, bytes and blocks of allocate() in the dump of the first process
	while read -r how dumps bytes blocks; do
		log=$W/$how$static.log
		LEAKWRAP_OPTIONS=children=all "$W/exits$static" "$how" >"$log.out" 2>"$log" &
		pid=$!
		wait $pid
		status=$?
		if [ "$how" = killed ]; then
			equal "$how$static: status" $status 137
		else
			equal "$how$static: status" $status 7
		fi
		equal "$how$static: exit dumps" "$(grep -c 'reason=exit' "$log")" "$dumps"
		equal "$how$static: whole dumps" "$(dumps "$log" | wc -l)" "$dumps"
		[ "$dumps" = 0 ] ||
			equal "$how$static: live" "$(site_by "$log" "$pid.1" allocate)" \
				"$bytes $blocks"
		if [ "$how" = fork-malloc-_exit ]; then
			child=$(dumps "$log" | grep -v "^$pid\\.")
			equal "$how$static: live in the child" \
				"$(site_by "$log" "$child" child_allocates)" "5000 1"
			equal "$how$static: inherited" "$(site_by "$log" "$child" allocate)" \
				"1230 3"
		fi
	done <<-END
		return 1 1000 1
		exit 1 1000 1
		_exit 1 1230 3
		_Exit 1 1230 3
		quick_exit 1 1030 2
		pthread_exit 1 1000 1
		killed 0
		fork-_exit 1 1000 1
		fork-malloc-_exit 2 1000 1
		fork-exit 2 1000 1
		vfork-_exit 1 1000 1
		vfork-exec 1 1000 1
		exec 0
	END
done

# A handler ends the program while it writes its exit dump. The dump is whole, and the thread does
# not wait for itself, which would take 30 seconds.
mkfifo "$W/pipe"
exec 5<>"$W/pipe"
build exits_twice tests/process/exit_in_exit_dump.c
timeout 20 "$W/exits_twice" >"$W/ready" 2>&5 &
runner=$!
wait_until "$patience" grep -q ready "$W/ready" || fail "it does not fill the pipe"
pid=$(pgrep -P $runner) || fail "it ends without its exit dump"
wait_until "$patience" grep -q '^State:.S' "/proc/$pid/status" || fail "it does not wait"
kill -USR2 "$pid"
cat "$W/pipe" >"$W/twice.log" &
reader=$!
wait $runner
equal "status of a second end" $? 7
wait_until "$patience" grep -q '\] end ' "$W/twice.log" || fail "no exit dump"
kill $reader
equal "exit dumps of two ends" "$(grep -c 'reason=exit' "$W/twice.log")" 1
