#!/bin/sh
# Where memory= is used up, a sample is still recorded, and dumps say how exact it is.
#
# If the memory for samples is used up, too, dumps count what they miss, and say so.
. tests/lib.sh

build sampled tests/limits/sampled_at_bound.c

# between WHAT LOW GOT HIGH: fails unless GOT lies between LOW and HIGH.
between() {
	if [ "$3" -lt "$2" ] || [ "$3" -gt "$4" ]; then
		fail "$1: $3"
	fi
}

# run MEMORY INTERVAL: runs the program.  Sets $live and $lost to the blocks that the dump shows of
# those that were allocated in the end, 200,000, and that it misses.
run() {
	log=$W/$1.$2.log
	untracked=$(LEAKWRAP_OPTIONS=memory=$1:log=$log "$W/sampled" "$2") || fail "status $?"
	live=$(dump_lines "$log" 1 | awk '
		/^site / && / sampled=[1-9]/ { blocks += $6 }
		END { print blocks + 0 }')
	lost=$(($(dump_value "$log" 1 untracked_blocks) - untracked))
	sampled=$(dump_value "$log" 1 sampled_blocks)
	error=$(dump_value "$log" 1 live_bytes_error)
	echo "$1, $2: $sampled sampled blocks stand for $live, $lost lost, error $error bytes"
}

# 40 MB are 610 samples: one standard error is four per cent of the blocks.
for memory in 256K 2M; do
	run $memory 65536
	between "live blocks" 150000 "$live" 250000
	equal "lost" "$lost" 0
	between "the error" 1000000 "$error" 2500000
	! grep -q 'note no memory to record some sampled' "$log" || fail "an untrue note"
done

# 78,000 samples are too many for that memory.
run 256K 512
between "all blocks" 195000 $((live + lost)) 205000
grep -q 'note no memory to record some sampled' "$log" || fail "no note"
