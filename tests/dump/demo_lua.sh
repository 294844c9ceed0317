#!/bin/sh
# The relinked Lua server's dumps show each planted leak at its call site, to the byte.
#
# The server is linked dynamically and statically. The dump's sum for the library agrees with the
# library's own counter. The dump lists nothing that was freed.
. tests/lib.sh
. tests/demo/drive.sh

# held_by_lua DUMP [FUNCTION]: prints the "BYTES BLOCKS" that the archive's own code holds, called
# by FUNCTION. Its function l_alloc calls realloc as its last act, by a jump.
held_by_lua() {
	dump_sites "$log" "$1" | awk -v by="${2+;$2;}" '
		$4 ~ /^(l_alloc|luaM_|lua_newstate)/ && index($4, by) { bytes += $1; blocks += $2 }
		END { print bytes + 0, blocks + 0 }'
}

clients() {
	seq "$1" "$2" | sed 's/^/client/'
}

for kind in '' .static; do
	server=$O/demo/lua_server$kind
	[ -x "$server" ] || fail "no $server: make demo-programs"
	start "$W/out$kind" "$W/log$kind" "$server" tests/demo/lua_server.lua

	# The server answers once for its configuration, then once for each of 25 clients.
	clients 1 25 | request 26
	config=$(sed -n 's/.*config holds \([0-9]*\) .*/\1/p' "$out")
	lua=$(sed -n 's/.*lua holds \([0-9]*\) .*/\1/p' "$out" | tail -n 1)
	signal_dump 1
	first=$(held_by_lua 1)
	equal "clients in dump 1$kind" "$(site_by "$log" 1 greet_client)" "25600 25"
	equal "Lua's bytes in dump 1$kind" "${first% *}" $((config + lua))
	through=$(held_by_lua 1 read_config)
	equal "the state of read_config in dump 1$kind" "${through% *}" "$config"
	equal "replies in dump 1$kind" "$(site_by "$log" 1 send_reply)" "0 0"

	clients 26 100 | request 101
	lua=$(sed -n 's/.*lua holds \([0-9]*\) .*/\1/p' "$out" | tail -n 1)
	signal_dump 2
	second=$(held_by_lua 2)
	equal "clients in dump 2$kind" "$(site_by "$log" 2 greet_client)" "102400 100"
	equal "Lua's bytes in dump 2$kind" "${second% *}" $((config + lua))

	finish || fail "exit status $?"
	wait_for_dump "$log" "$program.3"
	equal "reason of dump 3$kind" "$(dump_value "$log" 3 reason)" exit
	last=$(held_by_lua 3)
	equal "clients at exit$kind" "$(site_by "$log" 3 greet_client)" "102400 100"
	equal "Lua's bytes at exit$kind" "${last% *}" "$config"
	equal "the state of read_config at exit$kind" "$(held_by_lua 3 read_config)" "$last"
	equal "sessions at exit$kind" "$(site_through "$log" 3 serve)" "102400 100"
	equal "dumps$kind" "$(dumps "$log" | wc -l)" 3

	# Only stdio's buffers and the like are not the program's or Lua's.
	if [ -z "$kind" ]; then
		equal "own blocks at exit" "$(own_sites "$log" 3)" \
			"$((102400 + config)) $((100 + ${last#* }))"
	fi
done
