#!/bin/sh
# The tracer's memory depends on the addresses that the heap has used, and on nothing else.
#
# It does not grow with the number of allocations and frees at these addresses, nor with the number
# of threads that have ended.
. tests/lib.sh

build endless tests/limits/memory_follows_heap.c
for option in crash=0 crash=1; do
	LEAKWRAP_OPTIONS=$option "$W/endless" >"$W/out" 2>"$W/log" || fail "$option: status $?"
	read -r early late <"$W/out"
	echo "$option: $early bytes after 30 rounds, $late after 60"
	# With crash=1 the tracer keeps a handler stack for each thread that ever lived at the same
	# time.
	[ "$late" -lt $((early * 5 / 4 + 500000)) ] ||
		fail "$option: the tracer grew from $early to $late bytes"
	for key in untracked_blocks freed_elsewhere_blocks foreign_frees; do
		equal "$option: $key" "$(dump_value "$W/log" 1 $key)" 0
	done
done
