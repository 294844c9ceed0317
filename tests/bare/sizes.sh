#!/bin/sh
# The tracer's size on a Cortex-M3 is what leakwrap-bare(7) says: not more, and not 20 % less.
. tests/lib.sh
. tests/bare/board.sh

# says ROW: prints the first number in this row of the page's table.
says() {
	sed -n "s/^$1[^	]*	\\([0-9,]*\\).*/\\1/p" wrap/man/leakwrap-bare.7 | tr -d ,
}

# near WHAT GOT SAID: fails if GOT is more than SAID, or 20 % less.
near() {
	[ -n "$3" ] || fail "leakwrap-bare(7) does not say: $1"
	echo "$1: $2, leakwrap-bare(7) says $3"
	[ "$2" -le "$3" ] || fail "that is too little"
	[ $(($2 * 5)) -ge $(($3 * 4)) ] || fail "that is too much"
}

# The archive is made anew from the objects that tests share, and its recipe prints the sizes.
board_runtime m3
cp -Rp "$O/bare/m3" "$W/build" || fail "no runtime for m3"
rm "$W/build/libleakwrap.a"
size=$(make O="$W/build" PORT=bare CC=arm-none-eabi-gcc AR=arm-none-eabi-ar \
	CROSS_COMPILE=arm-none-eabi- CFLAGS_TARGET="$(board_flags m3)" lib |
	sed -n 's/^ *SIZE *//p')
number() {
	echo "$size" | grep -o "[0-9]* $1" | cut -d ' ' -f 1
}
near "code" "$(number 'bytes of code')" "$(says code)"
near "kinds" "$(number 'bytes for kinds')" "$(says 'telling lost')"
near "variables" "$(number 'of variables')" "$(says variables)"
near "live block" "$(number 'for each live block')" "$(says 'each live block')"
near "call site" "$(number 'for each call site')" "$(says 'each call site')"

board_build m3 stack tests/bare/stack.c
board_run m3 stack "$W/out" || fail "status $?"
near "stack" "$(cat "$W/out")" "$(says 'stack, for an allocation')"
board_build m3 faults -DEXCEPTION='"HardFault"' -DIN_TASK tests/bare/faults.c
board_run m3 faults "$W/out"
near "stack of a fault" "$(sed -n 's/^stack //p' "$W/out")" "$(says 'stack, for the trace')"
