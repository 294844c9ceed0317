#!/bin/sh
# leakwrap serve takes only whole dumps, and finds the names of many addresses in a large dump.
# Another process that writes to the log does not end the server.
#
# The program cannot open its log while its folder is away. The test writes the dump instead.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/live.sh
need_server

build written tests/tool/grows.c -Wl,--build-id
mkdir "$W/logs" || exit 2
options="log=$W/logs/log" start_growing written
start_server --interval=1 "$pid"

# asks PATH FILE: gets PATH, and FILE is the dump that comes. $status and $W/out tell the answer.
asks() {
	mv "$W/logs" "$W/away"
	complaints=$(wc -l <"$W/written.err")
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
	[ "$(wc -l <"$W/written.err")" -gt "$complaints" ]
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
shows "^leakwrap_up{program=\"written\",pid=\"$pid\"} 0$"
shows "^leakwrap_dumps_total{program=\"written\",pid=\"$pid\"} 1$"
shows '^# HELP leakwrap_dumps_total Whole dumps that came from the process.$'
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

# 7,000 addresses, 20,000 locations in 300 modules.
awk -v pid="$pid" 'BEGIN {
	p = "leakwrap[" pid ".79] "
	printf "%sdump version=1 reason=signal time=2026-11-20T18:36:07Z program=/x/y\n", p
	printf "%stotal live_bytes=20000 live_blocks=20000 call_sites=20000\n", p
	for (i = 1; i <= 20000; i++) {
		m = i % 300
		address = 4194304 + m * 4096 + i % 4096
		printf "%ssite %d: 1 bytes in 1 blocks, complete\n", p, i
		printf "%s  #0 0x%x f%d+0x1 [%d] m%d+0x%x\n", p, address, i, m + 1, m, i % 4096
	}
	for (m = 0; m < 300; m++) {
		from = 4194304 + m * 4096
		printf "%smodule %d 0x%x-0x%x ", p, m + 1, from, from + 4096
		printf "bias=0x%x build_id=none path=/x/m%d\n", from, m
	}
	printf "%send sites=20000 lines=%d dump_ns=5\n", p, 40000 + 300 + 3
}' >"$W/large"
own=$server own_url=$url
start_server --interval=100 "$pid"
asks '/debug/pprof/heap?debug=1' "$W/large"
equal "status after a large dump" "$status" 200
awk 'BEGIN {
	printf "0x401001+0x401000"
	for (i = 0; i < 7000; i++)
		printf "+0x%x", 8388608 + i
}' >"$W/addresses"
get 200 /pprof/symbol --data-binary "@$W/addresses"
equal "names" "$(head -c 200 "$W/out" | tr '\t\n' '  ')" '0x401001 f1 0x401000 f1 '

kill -TERM "$server"
server=$own url=$own_url

# The program's own dumps come again.
sleep 1.1
get 200 '/debug/pprof/heap?debug=1'
shows keep_steady
kill -TERM "$server"
wait "$server"
equal "status" $? 0
[ ! -s "$W/serve.err" ] || fail "the server said: $(cat "$W/serve.err")"
