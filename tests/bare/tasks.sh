#!/bin/sh
# The same code in two RTOS tasks makes two call sites, each with its task's name.
#
# Each task has its own state, however the tasks take turns. A backtrace begins with the task's own
# registers and stays in the task's stack.
. tests/lib.sh
. tests/bare/board.sh

for board in $boards; do
	board_build "$board" tasks tests/bare/tasks.c
	board_run "$board" tasks "$W/log" || fail "$board: status $?: $(tail -n 5 "$W/log")"
	equal "$board: dumps" "$(dumps "$W/log" | wc -l)" 1
	equal "$board: time" "$(dump_value "$W/log" 1 time)" 2023-11-14T22:13:20Z
	[ "$(dump_value "$W/log" 1 dump_ns)" -gt 0 ] || fail "$board: the clock was not asked"
	# Compilers may unroll the loops, so it adds up the blocks by task and size.
	site='^site [0-9]*: \([0-9]*\) bytes in \([0-9]*\) block.*task=\(.*\)'
	dump_lines "$W/log" 1 | sed -n "s/$site/\\1 \\2 \\3/p" |
		awk '
			{ key = $3 " " $1 / $2; task[key] = $3 }
			{ bytes[key] += $1; blocks[key] += $2 }
			END { for (key in task) print bytes[key], blocks[key], task[key] }' |
		sort >"$W/got"
	cat >"$W/wanted" <<-'END'
		16 2 worker
		200 4 worker
		24 1 uart\x20rx
		60 3 uart\x20rx
		7 1 quiet
		80 2 worker
	END
	diff "$W/wanted" "$W/got" >"$W/difference" ||
		fail "$board: wanted (<), got (>): $(cat "$W/difference")"
	equal "$board: live" "$(dump_value "$W/log" 1 live_bytes)" 390

	equal "$board: complete stacks" \
		"$(dump_value "$W/log" 1 complete_stack_bytes_percent)" 100.00
	"$lw" report --format=folded --exe="$W/tasks.$board" "$W/log" >"$W/folded"
	for stack in 'task_main;receive;shared 60' 'task_main;receive;by_frame 24' \
		'task_main;work;by_frame 80' 'task_main;work;shared 200' \
		'task_main;quiet;shared 7' 'reset;start;main 3'; do
		grep -qx "$stack" "$W/folded" || fail "$board: no '$stack': $(cat "$W/folded")"
	done

	"$lw" report --exe="$W/tasks.$board" "$W/log" >"$W/out" 2>"$W/err" ||
		fail "$board: $(cat "$W/err")"
	grep -q '^  #[0-9]* [0-9]* bytes in [0-9]* block.*, task uart rx$' "$W/out" ||
		fail "$board: $(grep '#' "$W/out")"
	"$lw" report --format=json --exe="$W/tasks.$board" "$W/log" >"$W/out"
	[ "$(grep -c '"task":"worker"' "$W/out")" -ge 2 ] || fail "$board: no tasks in JSON"
done
