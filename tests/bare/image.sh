#!/bin/sh
# With an image of a board's RAM, the tool tells lost from reachable memory, and what keeps blocks
# alive: variables, the stack, other blocks. Free memory and the stack's past keep nothing. Where
# the program says what its roots, heap and stacks are, the verdicts are the board's own.
# timeout: 200
. tests/lib.sh
. tests/bare/board.sh

# run_to_image BOARD MACHINE ADDRESS: runs the program, and saves its memory when it has written its
# dump.
run_to_image() {
	rm -f "$W/ram"
	: >"$W/log"
	mkfifo "$W/monitor"
	QEMU_AUDIO_DRV=none timeout 60 qemu-system-arm -M "$2" -display none -serial none \
		-monitor stdio -chardev "file,id=log,path=$W/log" \
		-semihosting-config enable=on,target=native,chardev=log \
		-kernel "$W/image.$1" <"$W/monitor" >"$W/qemu" 2>&1 &
	exec 5>"$W/monitor"
	wait_until "$patience" grep -q ' end sites=' "$W/log" || fail "$1: no dump"
	echo "pmemsave $3 0x100000 \"$W/ram\"" >&5
	echo quit >&5
	wait $! || fail "$1: the emulator ends with an error"
	exec 5>&-
	rm "$W/monitor"
}

# check BOARD MACHINE ADDRESS
check() {
	board_build "$1" image tests/bare/image.c
	run_to_image "$@"
	"$lw" report --format=json --exe="$W/image.$1" --image="$3:$W/ram" "$W/log" >"$W/json" \
		2>"$W/err" || fail "$1: $(cat "$W/err")"
	jq -r '.dumps[0].call_sites[] | .frames[0].function + " " +
		([.kinds | to_entries[] | select(.value > 0) | .key] | .[0])' "$W/json" >"$W/got"
	sed -n 's/^BLOCK(\([a-z_]*\),.*/\1/p' tests/bare/image.c >"$W/functions"
	while read -r function; do
		case $function in
		lose_tail) wanted=within_bytes ;;
		lose_*) wanted=definite_bytes ;;
		possible_*) wanted=possible_bytes ;;
		*) wanted=reachable_bytes ;;
		esac
		equal "$1: $function" "$(sed -n "s/^$function //p" "$W/got")" $wanted
	done <"$W/functions"
	jq -e '.dumps[0].totals.scanned == "image"' "$W/json" >/dev/null || fail "$1: scanned"
	"$lw" why --exe="$W/image.$1" --image="$3:$W/ram" keep_chain "$W/log" >"$W/out" ||
		fail "$1: why"
	grep -q "variable data of image\." "$W/out" || fail "$1: $(cat "$W/out")"
}

check m3 mps2-an385 0x20000000
check a9 vexpress-a9 0x60100000

# What cannot be used costs one line.
for image in "$W/ram" 0x20000000 "0x20000000:$W/none" "ram:$W/ram" "0x1000:$W/ram"; do
	status=0
	"$lw" report --exe="$W/image.m3" --image="$image" "$W/log" >"$W/out" 2>"$W/err" || status=$?
	equal "$image: status" $status 2
	equal "$image: lines" "$(wc -l <"$W/err")" 1
done

# list_kinds OPTION...: the kinds of each call site, and their totals, without how they were found.
list_kinds() {
	"$lw" report --format=json --exe="$W/image.m3" "$@" "$W/log" >"$W/json" 2>"$W/err" ||
		fail "tasks: $(cat "$W/err")"
	jq -c '.dumps[0] | .totals.kinds, .call_sites[].kinds' "$W/json"
}

board_build m3 image -DIMAGE tests/bare/kinds.c
run_to_image m3 mps2-an385 0x20000000
list_kinds >"$W/own"
list_kinds --image="0x20000000:$W/ram" >"$W/got"
grep -q '"definite_bytes":249,.*"possible_bytes":141,' "$W/own" || fail "tasks: $(cat "$W/own")"
diff "$W/own" "$W/got" >"$W/differing" || fail "tasks: $(cat "$W/differing")"

# Without the memory of the roots there is no verdict.
heap=$(dump_lines "$W/log" 1 | sed -n 's/^root 0x[0-9a-f]*-//p')
tail -c +$((heap - 0x20000000 + 1)) "$W/ram" >"$W/part"
status=0
"$lw" report --exe="$W/image.m3" --image="$heap:$W/part" "$W/log" >"$W/out" 2>"$W/err" || status=$?
equal "without roots: status" $status 2
grep -q "^leakwrap: no image has the memory at 0x2.*: --image adds it$" "$W/err" ||
	fail "without roots: $(cat "$W/err")"
