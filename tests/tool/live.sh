# shellcheck shell=sh disable=SC2154 # variables of tests/lib.sh
# live.sh - shared by the tests of top, serve and push: starts programs that run, and the server.
#
# Sourced after tests/tool/tool.sh.

started=
trap 'for one in $started; do kill -9 $one 2>/dev/null; done' EXIT

# start_growing NAME ARGUMENT...: starts $W/NAME, and sets $pid.
start_growing() {
	program=$1
	shift
	: >"$W/ready"
	LEAKWRAP_OPTIONS=${options-log=$W/%p.log} "$W/$program" "$@" >"$W/ready" \
		2>"$W/$program.err" &
	pid=$!
	started="$started $pid"
	wait_until "$patience" test -s "$W/ready" || fail "$program does not start"
}

# need_server: skips the test if the tool has no server, or nothing can ask it.
need_server() {
	need curl
	"$lw" serve --listen=nowhere 2>&1 | grep -q 'without libmicrohttpd' &&
		skip "built without libmicrohttpd"
	return 0
}

# start_server ARGUMENT...: starts leakwrap serve, and sets $server and $url.
start_server() {
	: >"$W/serve.out"
	"$lw" serve --listen=127.0.0.1:0 "$@" >"$W/serve.out" 2>"$W/serve.err" &
	server=$!
	started="$started $server"
	wait_until "$patience" grep -q http "$W/serve.out" ||
		fail "no server: $(cat "$W/serve.err")"
	url=$(sed 's/^leakwrap serve: //; s/\/$//' "$W/serve.out")
}

# get STATUS PATH ARGUMENT...: asks the server by curl; $W/out gets the body.
get() {
	wanted=$1 path=$2
	shift 2
	got=$(curl -s --path-as-is -m 60 -o "$W/out" -w '%{http_code}' "$@" "$url$path")
	[ "$got" = "$wanted" ] || fail "$path: status $got, wanted $wanted: $(head -c 300 "$W/out")"
}

# let_pass: waits until a server with --interval=1 asks each process anew. It waits for a second,
# and for fifty times as long as the longest last dump of the processes took (watch.c).
let_pass() {
	longest=$(tail -q -n 1 "$W"/[0-9]*.log | sed -n 's/.* dump_ns=\([0-9]*\).*/\1/p' | sort -n |
		tail -n 1)
	sleep "$(awk -v ns="${longest:-0}" 'BEGIN { print 0.1 + (ns > 2e7 ? ns / 2e7 : 1) }')"
}
