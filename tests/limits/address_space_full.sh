#!/bin/sh
# A program at the limit of its address space still gets a dump of its totals and largest call
# sites.
. tests/lib.sh

build no_room tests/limits/address_space_full.c
"$W/no_room" 2>"$W/log" || fail "status $?"
equal "call sites" "$(dump_value "$W/log" 1 call_sites)" 1024
percent=complete_stack_bytes_percent
for key in live_bytes live_blocks call_sites $percent truncated_blocks guessed_blocks; do
	equal "$key" "$(dump_value "$W/log" 2 "$key")" "$(dump_value "$W/log" 1 "$key")"
done
dump_lines "$W/log" 2 |
	grep -q '^note no memory to list all call sites: the largest are shown$' ||
	fail "the dump does not say that it shows the largest call sites"
for dump in 1 2; do
	dump_lines "$W/log" $dump | sed -n '/^site 1:/,/^site 129:/p' | grep -v '^site 129:' |
		sed '/^note/d; /^module/d; /^end/d' >"$W/$dump"
done
equal "call sites shown" "$(grep -c '^site' "$W/2")" 128
cmp "$W/1" "$W/2" || fail "other call sites: $(diff "$W/1" "$W/2" | head)"
