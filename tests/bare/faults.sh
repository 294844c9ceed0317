#!/bin/sh
# A fault without an operating system writes a dump with task, registers and call chain.
#
# If a stack overflow has lost registers, the dump says so. Faults are HardFault on Cortex-M; data
# abort, prefetch abort and undefined instruction on ARM. The chain goes through newlib, and through
# a task. The tool on this machine reports it. After the dump the program's after_fault runs.
# timeout: 200
. tests/lib.sh
. tests/bare/board.sh

line_of() {
	grep -n -F "$2" "tests/bare/$1" | head -n 1 | cut -d : -f 1
}

# chain FUNCTION...: fails unless these functions are the call chain, beginning at the fault.
chain() {
	sed -n '/died of/,/^  *r0 /s/^      \([a-z_?]*\)  *[^ ]*$/\1/p' "$W/out" |
		tr '\n' ' ' >"$W/chain"
	equal "$board $exception: call chain" "$(cat "$W/chain")" "$* "
}

# try BOARD EXCEPTION CAUSE STATEMENT [-DIN_TASK]: raises EXCEPTION, and checks the dump and its
# report.
try() {
	board=$1 exception=$2 cause=$3 statement=$4
	shift 4
	case $* in
	*-DIN_TASK*) thread="thread 2, task control loop" ;;
	*) thread="thread 1" ;;
	esac
	board_build "$board" faults -DEXCEPTION="\"$exception\"" "$@" tests/bare/faults.c
	board_run "$board" faults "$W/log"
	equal "$board $exception: status" $? 42
	equal "$board $exception: whole dumps" "$(dumps "$W/log" | wc -l)" 1
	dump=$(dumps "$W/log" | cut -d . -f 2)
	equal "$board $exception: reason" "$(dump_value "$W/log" "$dump" reason)" crash
	equal "$board $exception: live" "$(dump_value "$W/log" "$dump" live_bytes)" 100
	dump_lines "$W/log" "$dump" | sed -n 's/^registers //p' | tr ' ' '\n' |
		sed 's/=.*//' | head -n 16 | tr '\n' ' ' >"$W/names"
	equal "$board $exception: registers" "$(cat "$W/names")" \
		"r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 sp lr pc "
	"$lw" report --all --exe="$W/faults.$board" "$W/log@$dump" >"$W/out" 2>"$W/err" ||
		fail "$board $exception: $(cat "$W/err")"
	grep -q "died of $exception, $cause.* in $thread\$" "$W/out" ||
		fail "$board $exception: no '$cause' in $thread: $(head -n 5 "$W/out")"
	[ -z "$statement" ] ||
		grep -q "provoke .*tests/bare/board.c:$(line_of board.c "$statement")\$" "$W/out" ||
		fail "$board $exception: not at '$statement': $(head -n 20 "$W/out")"
}

# overflow CAUSE SP FLAG: fails unless the dump of a program that was built with FLAG says that its
# stack has overflowed, shows the registers that are known, and shows no others.
overflow() {
	cause=$1 sp=$2
	board_build m3 faults -DEXCEPTION='"HardFault"' -DIN_TASK "$3" tests/bare/faults.c
	board_run m3 faults "$W/log"
	equal "overflow: status" $? 42
	dump_lines "$W/log" 1 | sed -n 's/^registers //p' | tr ' ' '\n' >"$W/registers"
	equal "overflow: registers" "$(sed 's/=.*//' "$W/registers" | tr '\n' ' ')" \
		"r4 r5 r6 r7 r8 r9 r10 r11 sp cfsr hfsr mmfar bfar "
	grep -qx "sp=$sp" "$W/registers" || fail "overflow: no sp=$sp: $(cat "$W/registers")"
	"$lw" report --all --exe="$W/faults.m3" "$W/log" >"$W/out" 2>"$W/err" ||
		fail "overflow: $(cat "$W/err")"
	[ ! -s "$W/err" ] || fail "overflow: $(cat "$W/err")"
	grep -q "died of HardFault, $cause in thread 2, task control loop\$" "$W/out" ||
		fail "overflow: no '$cause': $(head -n 5 "$W/out")"
	note="the stack has overflowed: the processor could not store the registers"
	grep -qx "  note: $note" "$W/out" || fail "overflow: no note: $(cat "$W/out")"
	! dump_lines "$W/log" 1 | sed '/^total/,$d' | grep '#0' || fail "overflow: a call chain"
}

overflow 'SIGSEGV (code 2, .*) at address 0x2000[0-9a-f]*' '0x2000[0-9a-f]*' -DOVERFLOW
overflow 'SIGBUS (code 2, .*) at address 0x9000000c' 0x90000010 -DNO_STACK

# The fault comes while a dump is written. That dump is torn, the fault's dump is whole.
try m3 HardFault 'SIGBUS (code 2, .*) at address 0x90000000' '0x90000000 = 1' -DIN_WRITE
equal "the torn dump comes first" "$dump" 2
for board in a9 926; do
	try "$board" data_abort 'SIGSEGV (code 1, .*) at address 0xf0000000' '0xf0000000 = 1' \
		-DIN_WRITE
done

# shellcheck disable=SC2086 # a list
for option in -DIN_MAIN -DIN_TASK; do
	case $option in
	-DIN_TASK) outer="below_newlib task_main" ;;
	*) outer="below_newlib main start reset" ;;
	esac
	try m3 HardFault 'SIGBUS (code 2, .*) at address 0x90000000' '0x90000000 = 1' $option
	chain provoke innermost by_callback qsort $outer
	for board in a9 926; do
		try "$board" data_abort 'SIGSEGV (code 1, .*) at address 0xf0000000' \
			'0xf0000000 = 1' $option
		chain provoke innermost by_callback qsort $outer
		try "$board" undefined_instruction 'SIGILL (code 1, .*) at address' 'udf #0' $option
		chain provoke innermost by_callback qsort $outer
		try "$board" prefetch_abort 'SIGSEGV (code 1, .*) at address 0xf0000000' '' $option
		grep -q "^      provoke .*board.c:$(line_of board.c '0xf0000000)()')\$" "$W/out" ||
			fail "$board: who jumped: $(head -n 20 "$W/out")"
		chain '?' provoke innermost by_callback qsort $outer
	done
done
