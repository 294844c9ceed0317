#!/bin/sh
# Stacks through a plugin of Go and the program that has loaded it are complete. Each has its own
# table of functions.
# timeout: 400
. tests/lib.sh
. tests/unwind/go.sh

lib=$O/libleakwrap.a gcc=$CC
go build -buildmode=plugin -o "$W/plugin.so" tests/unwind/go_plugin.go >"$W/out" 2>&1 ||
	fail "the plugin: $(cat "$W/out")"
build_go program -tags program tests/unwind/go_plugin_main.go
LEAKWRAP_OPTIONS=log=$W/log "$W/program" "$W/plugin.so" >"$W/out" 2>&1 ||
	fail "status $?: $(cat "$W/out")"

# Lines "SIZE KIND FUNCTION" of the last two frames.
dump_lines "$W/log" 1 | awk '
	function flush() { if (size) print size, kind, before, last }
	/^site / { flush(); size = $3; kind = $8; last = "" }
	/^ *#/ { before = last; last = $3; sub(/[+].*/, "", last) }
	/^module / { flush(); size = 0 }' | grep '^[12]00[12] ' | sort >"$W/got"
cat >"$W/wanted" <<'END'
1001 complete runtime.main runtime.goexit.abi0
1002 complete runtime.main runtime.goexit.abi0
2001 complete runtime.main runtime.goexit.abi0
2002 complete main.main.func1 runtime.goexit.abi0
END
diff "$W/wanted" "$W/got" >"$W/diff" || fail "$(cat "$W/diff")"
