#!/bin/sh
# Millions of different stacks with live blocks have a call site each, in little memory.
# timeout: 240
. tests/lib.sh

build stacks tests/limits/new_stacks.c tests/limits/tracer_calls.c -Wl,--wrap=syscall
failed=

# at_most WHAT GOT LIMIT
at_most() {
	echo "$1: $2"
	[ "$2" -le "$3" ] || failed="$failed; $1 is more than $3"
}

# An entry of 64 bytes, 21 frames of two bytes, and a slot of the live table.
LEAKWRAP_OPTIONS=top=1 "$W/stacks" live 2000000 >"$W/out" 2>"$W/live" ||
	fail "status $?"
at_most "blocks without a call site of their own" \
	$((2000000 - $(dump_value "$W/live" 1 call_sites))) 0
at_most "truncated_blocks" "$(dump_value "$W/live" 1 truncated_blocks)" 0
at_most "bytes for a stack" $(($(dump_value "$W/live" 1 tracer_bytes) / 2000000)) \
	$((64 + 2 * 21 + 4))

[ -z "$failed" ] || fail "${failed#; }"
