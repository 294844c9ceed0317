#!/bin/sh
# A program does the same as untraced when the tracer or the program itself gets no memory.
#
# The tracer's mmap fails once, at each of its calls in turn, or from there on. Each of the first
# allocations fails, and some at random. memory= and RLIMIT_AS bound the tracer. Recorded and
# untracked blocks together are the program's blocks.
# timeout: 480
. tests/lib.sh

build_plain untraced -DUNTRACED tests/stress/failing_memory.c tests/stress/failing.c
build traced -Wl,--wrap=leakwrap_call_kernel tests/stress/failing_memory.c tests/stress/failing.c

# run WHAT [VARIABLE=VALUE...]: runs the traced and the untraced program, and compares them.
run() {
	what=$1
	shift
	env "$@" "$W/untraced" >"$W/wanted"
	wanted=$?
	env "$@" "$W/traced" >"$W/got" 2>"$W/log"
	equal "$what: status" $? $wanted
	cmp -s "$W/got" "$W/wanted" ||
		fail "$what: the program behaves differently: $(diff "$W/got" "$W/wanted")"
	held=$(sed -n 's/^held \([0-9]* [0-9]*\),.*/\1/p' "$W/got")
	untracked=$(dump_value "$W/log" 1 untracked_blocks)
	dump_is_whole "$W/log" 1 || fail "$what: no whole dump"
	if grep -q 'no memory to add up' "$W/log"; then
		unknown=$((unknown + 1))
		return 0
	fi
	# An untracked block may have been freed since. Then the sum is larger.
	live="$(dump_value "$W/log" 1 live_bytes) $(dump_value "$W/log" 1 live_blocks)"
	if [ "$untracked" = 0 ]; then
		equal "$what: held" "$live" "$held"
	else
		lossy=$((lossy + 1))
		if [ "${live#* }" -gt "${held#* }" ] ||
			[ $((${live#* } + untracked)) -lt "${held#* }" ]; then
			fail "$what: $live live, $untracked untracked, $held held"
		fi
	fi
}

unknown=0 lossy=0
run "nothing fails" FAIL_MMAP=0
calls=$(strace -f -e trace=mmap,mmap2 "$W/traced" 2>&1 >/dev/null | grep -c 'MAP_NORESERVE' || :)
[ "$calls" -gt 0 ] || calls=60
at=1
while [ $at -le $((calls + 5)) ]; do
	run "mmap $at fails" FAIL_MMAP=$at
	run "mmap $at and all after it fail" FAIL_MMAP=$at+
	run "mmap $at and all after it fail, also for the dump" FAIL_MMAP=$at+ FAIL_TO_THE_END=1
	at=$((at + 1))
done
[ $lossy -gt 0 ] || fail "no mmap failed"
echo "mmap: $calls calls, $lossy runs with declared loss, $unknown without totals"
for at in 1 2 3 4 5 6 7 8 9 10 20 50 100 500 1000 3000; do
	run "allocation $at fails" FAIL_MALLOC=$at
done
for seed in 1 2 3; do
	run "allocations fail at random" FAIL_MALLOC=7 FAIL_RANDOM=$seed
done
for memory in 1 4K 64K 128K 192K 256K 384K 512K 1M 2M 8M; do
	run "memory=$memory" LEAKWRAP_OPTIONS=memory=$memory
done
for kilobytes in 22000 40000 80000; do
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -v $kilobytes
		run "address space of $kilobytes KB"
	) || exit 1
done
