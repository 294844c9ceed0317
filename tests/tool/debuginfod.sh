#!/bin/sh
# The tool takes files that are not on this machine from a debuginfod server, if one is named.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need debuginfod

mkdir "$W/files"
$CC -g -O2 -fno-optimize-sibling-calls -Wl,--build-id -o "$W/files/chain" tests/tool/chain.c ||
	fail "cannot build"
offset=$(return_address objdump "$W/files/chain" make_basket malloc)
echo "1000 1 complete $offset" | make_dump 5.1 2026-11-20T18:36:01Z /opt/chain 0x55d0c8a00000 \
	"$(build_id "$W/files/chain")" >"$W/log"
strip -o "$W/stripped" "$W/files/chain"

port=$((20000 + $$ % 20000))
HOME=$W debuginfod -F -t 1 -p $port -d "$W/database" "$W/files" >"$W/server" 2>&1 &
server=$!
trap 'kill $server; wait $server' EXIT

# A client remembers which files a server did not have, so each try has a cache of its own.
asked=0
asks() {
	asked=$((asked + 1))
	DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH="$W/cache$asked" \
		DEBUGINFOD_TIMEOUT=5 \
		"$lw" report "$@" "$W/log" >"$W/out" 2>"$W/err" &&
		grep -q 'chain.c:9 (inlined)' "$W/out"
}
wait_until "$patience" asks ||
	fail "nothing from the server: $(cat "$W/err" "$W/out"; tail -n 5 "$W/server")"
[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
asks --exe="$W/stripped" || fail "no debug information from the server: $(cat "$W/err" "$W/out")"

status_is 0 "$lw" report "$W/log"
shows_not 'chain.c'
