#!/bin/sh
# A state of Lua is reachable by a pointer to it, behind the first word of its block, and by a
# pointer to one of its coroutines. A state to which no pointer leads is lost.
. tests/lib.sh

without_stale_pointers
tried=
for version in 5.3 5.4; do
	[ -e "/usr/include/lua$version/lua.h" ] || continue
	tried=1
	for lose in '' -DLOSE; do
		# shellcheck disable=SC2086 # one flag or none
		build states tests/reach/lua_states.c $lose "-I/usr/include/lua$version" \
			"-llua$version"
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/states" || fail "status $?"
		equal "Lua $version: possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 0
		if [ "$lose" ]; then
			[ "$(dump_value "$W/log" 1 definite_blocks)" -gt 0 ] ||
				fail "Lua $version: the lost state is not found"
		else
			equal "Lua $version: lost" "$(dump_value "$W/log" 1 definite_blocks)" 0
		fi
	done
	build states tests/reach/lua_states.c "-I/usr/include/lua$version" "-llua$version"
	report_of_core '' "$W/states"
	for kind in definitely possibly; do
		grep -q "$kind lost: 0 bytes" "$W/out" || fail "core: $(head "$W/out")"
	done
done
[ "$tried" ] || skip "Lua's headers are not installed"
