#!/bin/sh
# dump_at= writes dumps before memory runs out and at new heights, log_max= bounds the log.
. tests/lib.sh

build leaks tests/limits/unasked_dumps.c
runs=${UNASKED_RUNS:-3}

# leak_is_on_top FILE: fails unless the last dump in the file is whole, with the leak on top:
# blocks of 100 bytes. Where no memory is left for the symbol table, functions have no names.
leak_is_on_top() {
	grep ' site 1: ' "$1" | tail -n 1 |
		awk '{ exit !($4 > 1000000 && $4 / $7 > 99.9 && $4 / $7 < 100.1) }' ||
		fail "$1: the leak is not on top"
	tail -n 1 "$1" | grep -q '\] end sites=' || fail "$1: the dump is not whole"
}

reasons() {
	sed -n 's/.* dump .* reason=\([a-z]*\) .*/\1/p' "$1" | tr '\n' ' '
}

# A threshold makes one dump, near it.
for at in "live:20M'" "live:20M':sample=64K" "rss:30M'"; do
	log=$W/threshold.log
	rm -f "$log"
	LEAKWRAP_OPTIONS="log=$log:exit=0:dump_at='$at" "$W/leaks" 600000 || fail "$at: status $?"
	equal "$at: reasons" "$(reasons "$log")" "threshold "
	leak_is_on_top "$log"
	live=$(dump_value "$log" 1 live_bytes)
	[ "$live" -ge 15000000 ] || fail "$at: at $live live bytes"
	[ "$live" -le 45000000 ] || fail "$at: at $live live bytes"
	grep -q 'note .*, above [0-9]* bytes$' "$log" || fail "$at: no word about the threshold"
done

# A threshold is crossed again after the memory has fallen, also where the heap has been before.
cat >"$W/waves.c" <<'END'
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *volatile blocks[4000];
static size_t size;
static void rest(size_t i)
{
	if ((i + 1) * size / 1000000 > i * size / 1000000)
		usleep(12000);
}
int main(int argc, char **argv)
{
	size = (size_t)atoi(argv[argc - 1]);
	for (int wave = 0; wave < 3; wave++) {
		for (size_t i = 0; i < 16000000 / size; i++, rest(i))
			memset(blocks[i] = malloc(size), 1, size);
		for (size_t i = 0; i < 16000000 / size; i++, rest(i))
			free(blocks[i]);
		malloc_trim(0);
	}
	return 0;
}
END
build waves "$W/waves.c"
for size in 4096 100000; do
	log=$W/waves.$size.log
	LEAKWRAP_OPTIONS="log=$log:exit=0:dump_pause=0:dump_at='rss:16M'" "$W/waves" $size ||
		fail "waves: status $?"
	equal "waves of $size" "$(reasons "$log")" "threshold threshold threshold "
done

# It is not crossed again if the memory has fallen by less than a tenth.
cat >"$W/ripples.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
static void *volatile blocks[200];
int main(void)
{
	for (int i = 0; i < 200; i++)
		blocks[i] = malloc(100000);
	for (int turn = 0; turn < 60; turn++)
		for (int i = 0; i < 15; i++) {
			if (turn % 2 == 0)
				free(blocks[i]);
			else
				blocks[i] = malloc(100000);
			usleep(1000);
		}
	return 0;
}
END
build ripples "$W/ripples.c"
LEAKWRAP_OPTIONS="log=$W/ripples.log:exit=0:dump_pause=0:dump_at='live:19M'" "$W/ripples" ||
	fail "ripples: status $?"
equal "ripples" "$(reasons "$W/ripples.log")" "threshold "

# New heights: each is higher than the last by the percentage, and the pause holds.
LEAKWRAP_OPTIONS="log=$W/height.log:exit=0:dump_at='height:50':dump_pause=0" "$W/leaks" 600000 ||
	fail "height: status $?"
sed -n 's/.* total live_bytes=\([0-9]*\) .*/\1/p' "$W/height.log" >"$W/heights"
awk 'last && $1 < 1.4 * last { low++ } { last = $1 } END { exit low || NR < 2 }' "$W/heights" ||
	fail "heights: $(cat "$W/heights")"
LEAKWRAP_OPTIONS="log=$W/pause.log:exit=0:dump_at='height:50'" "$W/leaks" 600000 || fail pause
equal "pause" "$(reasons "$W/pause.log")" "height "

# A cgroup's limit, in both versions of the interface, exact and sampled.
for version in 1 2; do
	folder=$W/cgroup$version
	mkdir "$folder"
	case $version in
	1) echo 40000000 >"$folder/memory.limit_in_bytes" ;;
	2) echo 40000000 >"$folder/memory.max" ;;
	esac
	for run in $(seq "$runs"); do
		for sample in 0 64K; do
			log=$W/limit$version-$run-$sample.log
			rm -f "$folder/memory.current" "$folder/memory.usage_in_bytes"
			options=log=$log:exit=0:cgroup=$folder:sample=$sample
			LEAKWRAP_OPTIONS="$options:dump_at='limit:80'" \
				"$W/leaks" 350000 "$folder" || fail "limit: status $?"
			equal "limit: reasons" "$(reasons "$log")" "threshold "
			leak_is_on_top "$log"
		done
	done
done

# What the kernel may drop of files does not count.
folder=$W/droppable
mkdir "$folder"
echo 40000000 >"$folder/memory.max"
echo 39000000 >"$folder/memory.current"
for droppable in 30000000 3000000; do
	printf 'anon 1\ninactive_file %s\n' $droppable >"$folder/memory.stat"
	LEAKWRAP_OPTIONS="log=$W/$droppable.log:exit=0:cgroup=$folder:dump_at='limit:80'" \
		"$W/leaks" 20000 || fail "droppable: status $?"
done
equal "much that may be dropped" "$(ls "$W/30000000.log" 2>/dev/null)" ""
equal "little that may be dropped" "$(reasons "$W/3000000.log")" "threshold "

# Blocks that the program hides do not count.
cat >"$W/hides.c" <<'END'
#include <stdlib.h>
#include <unistd.h>

#include "wrap/leakwrap.h"

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 300; i++) {
		void *block = malloc(100000);

		if (i % 10 == 0)
			usleep(2000); /* the tracer looks once in a while */
		if (argc == 1)
			leakwrap_ignore(block);
	}
	return 0;
}
END
build hides "$W/hides.c"
for shown in '' shown; do
	# shellcheck disable=SC2086 # one or none
	LEAKWRAP_OPTIONS="log=$W/hides$shown.log:exit=0:dump_at='live:20M'" "$W/hides" $shown ||
		fail "hidden blocks: status $?"
done
[ ! -e "$W/hides.log" ] || fail "a threshold of hidden blocks"
equal "blocks that are not hidden" "$(reasons "$W/hidesshown.log")" "threshold "
# Memory that grows slowly comes to few new heights.
LEAKWRAP_OPTIONS="log=$W/slow.log:exit=0:dump_at='height:50':dump_pause=0" "$W/hides" shown ||
	fail "slow: status $?"
sed -n 's/.* total live_bytes=\([0-9]*\) .*/\1/p' "$W/slow.log" >"$W/heights"
awk 'last && $1 < 1.5 * last { low++ } { last = $1 } END { exit low || NR < 2 }' "$W/heights" ||
	fail "slow: heights: $(cat "$W/heights")"

# The first failed allocation, where no memory is left for the dump either.
for run in $(seq "$runs"); do
	for sample in 0 64K; do
		log=$W/failure-$run-$sample.log
		options=log=$log:exit=0:sample=$sample:dump_at=failure
		(
			# shellcheck disable=SC3045 # dash has it
			ulimit -v 60000
			LEAKWRAP_OPTIONS=$options exec "$W/leaks" 10000000
		)
		equal "failure: status" $? 3
		equal "failure: reasons" "$(reasons "$log")" "failure "
		leak_is_on_top "$log"
	done
done

# Without a limit one line says so, and the program runs.
mkdir "$W/none"
LEAKWRAP_OPTIONS="log=$W/none.log:cgroup=$W/none:dump_at='limit:80'" "$W/leaks" 10 2>"$W/err" ||
	fail "no limit: status $?"
grep -q 'no limit of memory was found' "$W/err" || fail "no word about the missing limit"
for bad in rss limit:101 limit:0 live:x often 'rss:1M,' ''; do
	LEAKWRAP_OPTIONS="exit=0:dump_at='$bad'" "$W/leaks" 10 2>"$W/err" || fail "bad: status $?"
	grep -q "option 'dump_at=" "$W/err" || fail "no complaint about dump_at='$bad'"
done

# The log's bound: two files, each at most the bound and a dump, and the numbers go on.
cat >"$W/dumps.c" <<'END'
#include <stdlib.h>

#include "wrap/leakwrap.h"

int main(void)
{
	void *kept = malloc(10);

	for (int i = 0; i < 40; i++)
		leakwrap_dump(-1);
	free(kept);
	return 0;
}
END
build dumps "$W/dumps.c"
LEAKWRAP_OPTIONS="log=$W/bounded.log:log_max=8K:exit=0" "$W/dumps" || fail dumps
for file in "$W/bounded.log" "$W/bounded.log.1"; do
	size=$(wc -c <"$file")
	[ "$size" -gt 500 ] || fail "$file has $size bytes"
	[ "$size" -le 16384 ] || fail "$file has $size bytes"
done
sed -n 's/leakwrap\[[0-9]*\.\([0-9]*\)\] dump .*/\1/p' "$W/bounded.log.1" \
	"$W/bounded.log" >"$W/numbers"
equal "the last dump" "$(tail -n 1 "$W/numbers")" 40
awk 'NR > 1 && $1 != last + 1 { exit 1 } { last = $1 }' "$W/numbers" || fail "dumps are missing"

# Another process renames the log before this process can. It renames no log that is not full.
cat >"$W/overtaken.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "wrap/leakwrap.h"

static char log_file[4096], renamed[4096 + 2];
long __real_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_flock) {
		FILE *file = rename(log_file, renamed) == 0 ? fopen(log_file, "w") : NULL;

		if (!file || fclose(file) != 0)
			return -1;
	}
	return __real_leakwrap_call_kernel(number, a, b, c, d, e, f);
}
int main(int argc, char **argv)
{
	snprintf(log_file, sizeof(log_file), "%s", argc > 1 ? argv[1] : "");
	snprintf(renamed, sizeof(renamed), "%s.1", log_file);
	return leakwrap_dump(-1);
}
END
build overtaken "$W/overtaken.c" -Wl,--wrap=leakwrap_call_kernel
log=$W/overtaken.log
cp "$W/bounded.log" "$log"
LEAKWRAP_OPTIONS="log=$log:log_max=100:exit=0" "$W/overtaken" "$log" || fail "overtaken: status $?"
cmp -s "$log.1" "$W/bounded.log" || fail "a log that is not full was renamed"
equal "overtaken" "$(reasons "$log")" "api "
