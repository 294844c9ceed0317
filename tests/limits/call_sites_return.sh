#!/bin/sh
# Call sites without live blocks give their memory back: a program that for ever allocates from new
# stacks and frees everything never fills the tables, and what it leaks later has complete stacks.
# timeout: 240
. tests/lib.sh
. tests/limits/bounds.sh

jansson=$($CC -print-file-name=libjansson.a)
[ -e "$jansson" ] || skip "libjansson.a is not installed"
build_program_only stacks tests/limits/new_stacks.c tests/limits/tracer_calls.c \
	-Wl,--wrap=leakwrap_call_kernel
build parser tests/limits/nested_json.c tests/limits/tracer_calls.c \
	-Wl,--wrap=leakwrap_call_kernel \
	"$jansson"

# leaks_are_complete LOG: of the blocks that are left in the end.
leaks_are_complete() {
	at_most "$1: lost_call_sites" "$(dump_value "$W/$1" 1 lost_call_sites)" 0
	[ "$(dump_value "$W/$1" 1 complete_stack_bytes_percent)" = 100.00 ] ||
		failed="$failed; $1: $(dump_lines "$W/$1" 1 | grep '^stacks')"
}

# Call sites rest for some milliseconds before their memory is used again, so a fast processor has
# more of them. If they rested for ever, the tables would have more than 20 MB.
"$W/stacks" trees 800000 >"$W/out" 2>"$W/trees" || fail "trees: status $?"
read -r calls walks allocations grown <"$W/out"
at_most "trees: system calls in $allocations allocations ($walks walks)" "$calls" \
	$((allocations / 5))
at_most "trees: bytes grown in the last half" "$grown" 2000000
at_most "trees: tracer_bytes" "$(dump_value "$W/trees" 1 tracer_bytes)" 12000000
leaks_are_complete trees
[ "$(site_through "$W/trees" 1 main)" = "10000 10" ] ||
	failed="$failed; trees: the leaks have no stack"

"$W/parser" 30000 >"$W/out" 2>"$W/json" || fail "json: status $?"
read -r calls walks requests <"$W/out"
at_most "json: system calls in $requests requests ($walks walks)" "$calls" $((requests * 20))
at_most "json: tracer_bytes" "$(dump_value "$W/json" 1 tracer_bytes)" 7200000
leaks_are_complete json

within_bounds
