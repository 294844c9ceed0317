#!/bin/sh
# The search for lost memory survives memory that cannot be read, at the exit and in a copy.
#
# It does not wait for such memory, brings no file into memory, and takes no data for an
# allocator's. The program's output and status stay, and the block that is lost is found.
. tests/lib.sh

build dynamic tests/reach/unreadable.c
build static tests/reach/unreadable.c -static
skipped=
for case in file_end database over_block guard guard_in_block key userfaultfd \
	userfaultfd_and_threads minor_faults large_file like_bins static_pool; do
	for link in dynamic static; do
		rm -f "$W/log"
		LEAKWRAP_OPTIONS="log=$W/log" timeout -s KILL 60 "$W/$link" $case >"$W/out"
		status=$?
		[ $status -ne 9 ] || {
			skipped="$skipped $case"
			continue 2
		}
		equal "$link $case: status" $status 0
		equal "$link $case: output" "$(tail -n 1 "$W/out")" "done"
		equal "$link $case: lost" "$(dump_value "$W/log" 1 definite_bytes)" 1001
		grep -q '\] end ' "$W/log" || fail "$link $case: no whole dump"
	done
done

# No copy is made if a fork waits for a thread that stands.
for link in dynamic static; do
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="log=$W/log:kinds=always" timeout -s KILL 60 "$W/$link" fork_events dump \
		>"$W/out"
	status=$?
	[ $status -ne 9 ] || {
		skipped="$skipped fork_events"
		break
	}
	equal "$link fork_events: status" $status 0
	equal "$link fork_events: lost" "$(dump_value "$W/log" 1 definite_bytes)" 1001
done

# No search is made if the process can neither be copied nor read.
for link in dynamic static; do
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="log=$W/log:kinds=always" timeout -s KILL 60 "$W/$link" \
		fork_events_and_minor_faults dump >"$W/out"
	status=$?
	[ $status -ne 9 ] || {
		skipped="$skipped fork_events_and_minor_faults"
		break
	}
	equal "$link fork_events_and_minor_faults: status" $status 0
	equal "$link fork_events_and_minor_faults: notes" \
		"$(grep -c 'note lost memory is not told .*userfaultfd' "$W/log")" 2
done

# The search in a core file does not take data for an allocator's either.
report_of_core '' "$W/dynamic" like_bins dump
grep -q 'definitely lost: 1,001 bytes' "$W/out" || fail "core: $(head "$W/out")"

[ -z "$skipped" ] || echo "this machine does not have:$skipped"
