#!/bin/sh
# The functions for signals show the program the same actions with the tracer and without.
#
# This covers flags and masks that the kernel or the C library changes, signals that are discarded
# because they are ignored, calls that a handler or a fault interrupts, and stacks for signals that
# cannot be read.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

for static in '' -static; do
	# shellcheck disable=SC2086 # a list of flags
	build_plain "plain$static" tests/signal/same_actions.c $static -Wno-deprecated-declarations
	# shellcheck disable=SC2086 # a list of flags
	build "traced$static" tests/signal/same_actions.c $static -Wno-deprecated-declarations
	"$W/plain$static" >"$W/plain$static.out"
	equal "exit status, plain$static" $? 0
	for signal in USR1 CHLD CONT URG WINCH TSTP; do
		LEAKWRAP_OPTIONS=signal=$signal "$W/traced$static" >"$W/traced$static.out" \
			2>"$W/traced$static.log"
		equal "exit status, traced$static, $signal" $? 0
		cmp "$W/plain$static.out" "$W/traced$static.out" || {
			diff "$W/plain$static.out" "$W/traced$static.out" | head -n 20
			fail "the program sees something else, $signal"
		}
	done
done

# An emulator shows flags that this machine's kernel drops.
same_actions() {
	name=$1
	shift
	# shellcheck disable=SC2086 # a list of flags
	$gcc $TARGET_CFLAGS "$@" -Wno-deprecated-declarations -o "$W/plain-$name" \
		tests/signal/same_actions.c 2>"$W/link" || fail "$name: $(tail -n 5 "$W/link")"
	build_on_target "$name" tests/signal/same_actions.c "$@" -Wno-deprecated-declarations
	$run "$W/plain-$name" >"$W/plain-$name.out"
	equal "exit status, untraced, $name" $? 0
	$run "$W/$name" >"$W/$name.out" 2>"$W/$name.log"
	equal "exit status, $name" $? 0
	cmp "$W/plain-$name.out" "$W/$name.out" || {
		diff "$W/plain-$name.out" "$W/$name.out" | head -n 20
		fail "the program sees something else, $name"
	}
}
each_target same_actions <<END || echo "no other machine"
arm-linux-gnueabihf qemu-arm -static
riscv64-linux-gnu qemu-riscv64 -static
END
