#!/bin/sh
# Stacks whose frames never have the same sizes twice take a bounded amount of memory.
# timeout: 240
. tests/lib.sh
. tests/limits/bounds.sh

build_program_only stacks tests/limits/new_stacks.c tests/limits/tracer_calls.c \
	-Wl,--wrap=leakwrap_call_kernel

# Variable-length arrays and alloca in a recursion: at most 21 blocks are live.
"$W/stacks" arrays 40000 >"$W/out" 2>"$W/arrays" || fail "arrays: status $?"
read -r calls walks allocations grown <"$W/out"
at_most "arrays: system calls in $allocations allocations ($walks walks)" "$calls" \
	$((allocations / 50))
at_most "arrays: bytes grown in the last half" "$grown" 3000000
at_most "arrays: tracer_bytes" "$(dump_value "$W/arrays" 1 tracer_bytes)" 20000000
equal "arrays: leaks" "$(site_through "$W/arrays" 1 main)" "10000 10"

# Functions with different frames.  An entry of 64 bytes, 21 frames of two bytes, and a slot of the
# live table, for each stack.
LEAKWRAP_OPTIONS=top=1 "$W/stacks" frames 100000 >"$W/out" 2>"$W/frames" ||
	fail "frames: status $?"
at_most "frames: bytes for a stack" $(($(dump_value "$W/frames" 1 tracer_bytes) / 100000)) \
	$((64 + 2 * 21 + 4))

within_bounds
