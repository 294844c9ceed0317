#!/bin/sh
# Threads of the kernel in the process, as of io_uring, do not keep the search for lost memory from
# its work. No signals pile up that such a thread never takes.
. tests/lib.sh

build dynamic tests/reach/kernel_workers.c
build static tests/reach/kernel_workers.c -static
skipped=
for case in work poll many; do
	for link in dynamic static; do
		rm -f "$W/log" "$W/pipe"
		LEAKWRAP_OPTIONS="log=$W/log:kinds=always" "$W/$link" $case "$W/pipe" \
			>"$W/out" 2>"$W/errors"
		status=$?
		[ $status -ne 9 ] || {
			skipped="$skipped $case"
			continue 2
		}
		equal "$link $case: status" $status 0
		equal "$link $case: output" "$(cat "$W/out")" "done"
		for dump in 1 2 40 41; do
			equal "$link $case: lost in dump $dump" \
				"$(dump_value "$W/log" $dump definite_bytes)" 1001
		done
	done
done
[ "$skipped" != " work poll many" ] || skip "this machine has no io_uring"
[ -z "$skipped" ] || echo "this machine does not have:$skipped"
