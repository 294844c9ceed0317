#!/bin/sh
# memory= bounds the tracer's memory, and the dump says what it misses.
#
# If the memory is not enough, the program runs on. Recorded and untracked blocks together are the
# program's blocks.
. tests/lib.sh

build_program_only bound tests/limits/memory_bound.c
for memory in 256K 1M 4M 1G; do
	log=$W/$memory.log
	held=$(LEAKWRAP_OPTIONS=memory=$memory:top=1 "$W/bound" 2>"$log") ||
		fail "$memory: status $?"
	live_bytes=$(dump_value "$log" 1 live_bytes)
	live_blocks=$(dump_value "$log" 1 live_blocks)
	lost_bytes=$(dump_value "$log" 1 untracked_bytes)
	lost_blocks=$(dump_value "$log" 1 untracked_blocks)
	lost_sites=$(dump_value "$log" 1 lost_call_sites)
	tracer=$(dump_value "$log" 1 tracer_bytes)
	equal "$memory: blocks" $((live_blocks + lost_blocks)) "${held#* }"
	equal "$memory: bytes" $((live_bytes + lost_bytes)) "${held% *}"
	echo "$memory: tracer $tracer, untracked $lost_blocks blocks, $lost_sites lost call sites"
	case $memory in
	256K)
		[ "$tracer" -le 262144 ] || fail "the tracer has taken $tracer bytes"
		[ $((lost_blocks + lost_sites)) -gt 0 ] ||
			fail "nothing is declared lost, with so little memory"
		;;
	1M) [ "$tracer" -le 1048576 ] || fail "the tracer has taken $tracer bytes" ;;
	4M) [ "$tracer" -le 4194304 ] || fail "the tracer has taken $tracer bytes" ;;
	*)
		equal "lost" "$lost_blocks $lost_sites" "0 0"
		equal "call sites" "$(dump_value "$log" 1 call_sites)" $((32768 + 2))
		;;
	esac
done

# Of tables that are mapped and not used, little counts: 500 blocks, each in a MiB of its own, need
# 64 MB of address space.
held=$(LEAKWRAP_OPTIONS=memory=4M "$W/bound" far 2>"$W/far.log") || fail "far: status $?"
equal "far: live blocks" "$(dump_value "$W/far.log" 1 live_blocks)" "${held#* }"
tracer=$(dump_value "$W/far.log" 1 tracer_bytes)
[ "$tracer" -le 4194304 ] || fail "far: the tracer has taken $tracer bytes"
