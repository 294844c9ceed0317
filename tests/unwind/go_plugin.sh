#!/bin/sh
# Stacks through a plugin and the program that has loaded it are complete. Each has its own table of
# functions.
# timeout: 400
. tests/lib.sh

lw=$O/leakwrap
[ -x "$lw" ] || skip "the tool is not built: $O/leakwrap"
command -v go >/dev/null || skip "go is not installed"

printf '#!/bin/sh\nLEAKWRAP_LIB=%s exec %s cc -- %s "$@"\n' "$O/libleakwrap.a" "$lw" "$CC" \
	>"$W/link"
chmod 755 "$W/link"
export GOCACHE="$W/cache" GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=1
CC=$CC go build -buildmode=plugin -o "$W/plugin.so" tests/unwind/go_plugin.go >"$W/out" 2>&1 ||
	fail "the plugin: $(cat "$W/out")"
CC=$CC go build -tags program -ldflags "-linkmode=external -extld=$W/link" -o "$W/program" \
	tests/unwind/go_plugin_main.go >"$W/out" 2>&1 || fail "the program: $(cat "$W/out")"
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
