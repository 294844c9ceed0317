#!/bin/sh
# A program that leaks until its cgroup's limit kills it has written a whole dump before.
#
# KILL_RUNS=100 kills it 100 times with each of two intervals. Where no cgroup can be made it is
# skipped; limits/unasked_dumps has a simulated cgroup.
. tests/lib.sh

runs=${KILL_RUNS:-2}
limit=48000000
folder=''
trap '[ -z "$folder" ] || rmdir "$folder"' EXIT

# make_group MOUNTED PATH FILE SWAP BYTES: makes a cgroup inside PATH, and sets $folder. FILE has
# its limit, SWAP that of swapped memory, which becomes BYTES. Fails where the system refuses.
make_group() {
	folder=$1${2%/}/leakwrap-test-$$
	mkdir "$folder" 2>/dev/null || return 1
	if echo $limit >"$folder/$3" 2>/dev/null; then
		# Without this limit, which not every system has, the leak would be swapped out.
		[ ! -e "$folder/$4" ] || echo "$5" >"$folder/$4"
		return 0
	fi
	rmdir "$folder"
	return 1
}

# group_path PATTERN: prints the path of this process's cgroup, from the line of /proc/self/cgroup
# that begins with the PATTERN.
group_path() {
	sed -n "s/^$1://p" /proc/self/cgroup
}

make_group /sys/fs/cgroup/memory "$(group_path '[0-9]*:[^:]*memory[^:]*')" memory.limit_in_bytes \
	memory.memsw.limit_in_bytes $limit 2>/dev/null ||
	make_group /sys/fs/cgroup "$(group_path '0:')" memory.max memory.swap.max 0 2>/dev/null ||
	{
		folder=''
		skip "a cgroup with a limit of memory cannot be made here"
	}

build leaks tests/limits/unasked_dumps.c
whole=0
for run in $(seq "$runs"); do
	for sample in 0 64K; do
		log=$W/$run-$sample.log
		(
			echo 0 >"$folder/cgroup.procs"
			LEAKWRAP_OPTIONS="log=$log:sample=$sample:dump_at='limit:80'" \
				exec "$W/leaks" 100000000
		)
		equal "run $run, sample=$sample: status" $? 137
		reasons=$(sed -n 's/.* dump .* reason=\([a-z]*\) .*/\1/p' "$log")
		equal "run $run, sample=$sample: reasons" "$reasons" threshold
		dump_is_whole "$log" 1 || fail "run $run, sample=$sample: the dump is not whole"
		dump_sites "$log" 1 | head -n 1 | grep -q ' leak;' ||
			fail "run $run, sample=$sample: the leak is not on top"
		whole=$((whole + 1))
		rm "$log"
	done
done
echo "killed $((2 * runs)) times, $whole whole dumps with the leak on top"
