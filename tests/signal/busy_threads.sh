#!/bin/sh
# Eight threads that allocate at full speed take 1,000 dumps, and no block is lost.
#
# No dump is lost, and none hangs. The last dump shows as many live bytes as the threads have
# counted.
# timeout: 300
. tests/lib.sh

for static in '' -static; do
	build "threads$static" $static tests/signal/busy_threads.c
	log=$W/log$static
	held=$(LEAKWRAP_OPTIONS=log=$log "$W/threads$static" 1000 "$log" 2>"$W/err$static") ||
		fail "status $?"
	equal "dumps$static" "$(dumps "$log" | sed 's/.*\.//' | tr '\n' ' ')" \
		"$(seq 1001 | tr '\n' ' ')"
	equal "held$static" "$(site_by "$log" 1001 churn)" "$held"
	equal "untracked$static" "$(dump_value "$log" 1001 untracked_blocks)" 0
	equal "freed elsewhere$static" "$(dump_value "$log" 1001 freed_elsewhere_blocks)" 0
	rm "$log"
done
