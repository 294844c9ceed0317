#!/bin/sh
# Call sites without live blocks give their memory back: a program that for ever allocates from new
# stacks and frees everything never fills the tables, and what it leaks later has complete stacks.
# timeout: 240
. tests/lib.sh
. tests/counted.sh

jansson=$($CC -print-file-name=libjansson.a)
[ -e "$jansson" ] || skip "libjansson.a is not installed"
# shellcheck disable=SC2086 # lists
for how in build build_plain; do
	counts_calls="tests/limits/tracer_calls.c -Wl,--wrap=syscall"
	$how stacks-$how tests/limits/new_stacks.c $counts_calls
	$how json-$how tests/limits/nested_json.c $counts_calls "$jansson"
done
failed=

# at_most WHAT GOT LIMIT
at_most() {
	echo "$1: $2"
	[ "$2" -le "$3" ] || failed="$failed; $1 is more than $3"
}

# leaks_are_complete LOG: of the blocks that are left in the end.
leaks_are_complete() {
	at_most "$1: lost_call_sites" "$(dump_value "$W/$1" 1 lost_call_sites)" 0
	[ "$(dump_value "$W/$1" 1 complete_stack_bytes_percent)" = 100.00 ] ||
		failed="$failed; $1: $(dump_lines "$W/$1" 1 | grep '^stacks')"
}

"$W/stacks-build" trees 200000 >"$W/out" 2>"$W/trees" || fail "trees: status $?"
read -r calls walks allocations grown <"$W/out"
at_most "trees: system calls in $allocations allocations ($walks walks)" "$calls" \
	$((allocations / 50))
at_most "trees: bytes grown in the last half" "$grown" 1000000
leaks_are_complete trees
[ "$(site_through "$W/trees" 1 main)" = "10000 10" ] ||
	failed="$failed; trees: the leaks have no stack"

"$W/json-build" 30000 >"$W/out" 2>"$W/json" || fail "json: status $?"
read -r calls walks requests <"$W/out"
at_most "json: system calls in $requests requests ($walks walks)" "$calls" "$requests"
at_most "json: tracer_bytes" "$(dump_value "$W/json" 1 tracer_bytes)" 8000000
leaks_are_complete json

# What the tracer makes of the programs' own cost, at the beginning.
export LEAKWRAP_OPTIONS=exit=0
ROUNDS=100
traced=$(instructions_a_round "$W/stacks-build" trees) || fail "$traced"
plain=$(instructions_a_round "$W/stacks-build_plain" trees) || fail "$plain"
at_most "trees: instructions a tree, $plain untraced" "$traced" $((2 * plain))
traced=$(instructions_a_round "$W/json-build") || fail "$traced"
plain=$(instructions_a_round "$W/json-build_plain") || fail "$plain"
text=$(instructions_a_round "$W/json-build_plain" without) || fail "$text"
at_most "json: instructions a request, $((plain - text)) untraced" $((traced - text)) \
	$((2 * (plain - text)))
[ -z "$failed" ] || fail "${failed#; }"
