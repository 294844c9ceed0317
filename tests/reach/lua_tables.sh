#!/bin/sh
# The parts of a table of Lua 5.5 are reachable by the table's pointers behind their first bytes, a
# main state from its last part, and a coroutine by a pointer behind the program's own bytes. Those
# to which nothing leads are lost.
. tests/lib.sh

without_stale_pointers
for lose in '' -DLOSE; do
	# shellcheck disable=SC2086 # one flag or none
	build tables tests/reach/lua_tables.c $lose
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/tables" || fail "status $?"
	equal "possibly lost$lose" "$(dump_value "$W/log" 1 possible_blocks)" 0
	lost=$(($(dump_value "$W/log" 1 definite_blocks) +
		$(dump_value "$W/log" 1 indirect_blocks)))
	equal "lost$lose" $lost "$([ "$lose" ] && echo 11 || echo 0)"
done
build tables tests/reach/lua_tables.c
report_of_core '' "$W/tables"
for kind in definitely possibly; do
	grep -q "$kind lost: 0 bytes" "$W/out" || fail "core: $(head "$W/out")"
done
