#!/bin/sh
# leakwrap serve takes a whole dump alone. Who else writes to the log ends no server.
#
# The program cannot open its log while its folder is away. The test writes the dump instead.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/live.sh
need curl
"$lw" serve --listen=nowhere 2>&1 | grep -q 'without libmicrohttpd' &&
	skip "built without libmicrohttpd"

build served tests/tool/grows.c -Wl,--build-id
mkdir "$W/logs" || exit 2
options="log=$W/logs/log" start_growing served
start_server --interval=1 "$pid"

# asks PATH FILE: gets PATH, and FILE is the dump that comes. $status and $W/out tell the answer.
asks() {
	mv "$W/logs" "$W/away"
	complaints=$(wc -l <"$W/served.err")
	curl -s -m 60 -o "$W/out" -w '%{http_code}' "$url$1" >"$W/status" &
	client=$!
	wait_until "$patience" is_asked || fail "the program is not asked"
	mkdir "$W/part"
	cp "$2" "$W/part/log"
	mv "$W/part" "$W/logs"
	wait "$client"
	status=$(cat "$W/status")
	rm -r "$W/logs"
	mv "$W/away" "$W/logs"
}
is_asked() {
	[ "$(wc -l <"$W/served.err")" -gt "$complaints" ]
}

# A line is missing, and the call site is new.
{
	echo "leakwrap[$pid.77] dump version=1 reason=signal time=2026-11-20T18:36:07Z program=/x/y"
	echo "leakwrap[$pid.77] total live_bytes=5 live_blocks=1 call_sites=1"
	echo "leakwrap[$pid.77] site 1: 5 bytes in 1 blocks, complete"
	echo "leakwrap[$pid.77]   #0 0x401234 made_up+0x4 [1] y+0x1234"
	echo "leakwrap[$pid.77] module 1 0x400000-0x500000 bias=0x400000 build_id=none path=/x/y"
	echo "leakwrap[$pid.77] end sites=1 lines=9 dump_ns=5"
} >"$W/damaged"
get 200 '/debug/pprof/heap?debug=1'
asks '/debug/pprof/heap?seconds=1' "$W/damaged"
equal "status after a damaged dump" "$status" 502
shows "the dump of process $pid is damaged: lines of it are missing"
get 200 /metrics
shows "^leakwrap_up{program=\"served\",pid=\"$pid\"} 0$"
shows "^leakwrap_dumps_total{program=\"served\",pid=\"$pid\"} 1$"
get 200 /dumps
shows 'keep_steady'
shows_not made_up

# A crash has a stack of its own, and no call site has its locations.
{
	echo "leakwrap[$pid.78] dump version=1 reason=crash time=2026-11-20T18:36:07Z program=/x/y"
	echo "leakwrap[$pid.78] total live_bytes=0 live_blocks=0 call_sites=0"
	echo "leakwrap[$pid.78] crash signal=11 code=1 fault_address=0x10 thread=$pid"
	echo "leakwrap[$pid.78]   #0 0x401238 fell_here+0x8 [1] y+0x1238"
	echo "leakwrap[$pid.78] module 1 0x400000-0x500000 bias=0x400000 build_id=none path=/x/y"
	echo "leakwrap[$pid.78] end sites=0 lines=6 dump_ns=5"
} >"$W/crash"
sleep 1.1
asks / "$W/crash"
equal "status after a crash" "$status" 200
shows fell_here

# The program's own dumps come again.
sleep 1.1
get 200 '/debug/pprof/heap?debug=1'
shows keep_steady
kill -TERM "$server"
wait "$server"
equal "status" $? 0
[ ! -s "$W/serve.err" ] || fail "the server said: $(cat "$W/serve.err")"
