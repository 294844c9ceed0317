#!/bin/sh
# leakwrap serve shows running programs to curl and go tool pprof. It finds them itself, asks a
# process rarely, says what is wrong, and no path reaches a file.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/live.sh
status_is 0 "$lw" serve --help
need_server

# Nothing runs that it may serve.
start_server nosuchprogram
wait_until "$patience" grep -qx 'leakwrap: no such traced process runs yet' "$W/serve.err" ||
	fail "serve does not say that nothing runs"
kill "$server"

build served tests/tool/grows.c -Wl,--build-id
cp "$W/served" "$W/served2"
start_growing served 100
first=$pid
start_server --interval=1 served served2
get 200 /debug/pprof/heap
gzip -t "$W/out" || fail "the profile is not gzip"
get 200 '/debug/pprof/heap?debug=1'
shows '^heap profile: [0-9]*: [0-9]* \[[0-9]*: [0-9]*\] @ heap_v2/1$'
shows '^1: 5000 \[1: 5000\] @ 0x'
shows 'keep_steady.*grows.c:[0-9]*$'
shows "r-xp .* $W/served$"
get 200 /pprof/heap
shows '^heap profile: '
get 200 /pprof/cmdline
shows "^$W/served$"
get 200 /pprof/symbol
shows '^num_symbols: 1$'
address=$(dump_lines "$W/$first.log" 1 | sed -n 's/^  #0 \(0x[0-9a-f]*\) keep_steady.*/\1/p')
get 200 /pprof/symbol -d "$address+0x1"
shows "^$address	keep_steady$"
get 200 /dumps
"$lw" report "$W/out" >"$W/report" || fail "dumps"
grep -q keep_steady "$W/report" || fail "no call site in /dumps"

# Profiles, for go tool pprof. Between two dumps only what grew is left.
if command -v go >/dev/null; then
	export HOME="$W" GOCACHE="$W/cache" PPROF_TMPDIR="$W"
	go tool pprof -top -sample_index=inuse_space "$url/debug/pprof/heap" >"$W/out" 2>"$W/err" ||
		fail "$(cat "$W/err")"
	shows ' keep_growing$'
	shows '^ *4.88kB .* keep_steady$'
	go tool pprof -raw -seconds 2 "$url/debug/pprof/heap" >"$W/out" 2>"$W/err" ||
		fail "$(cat "$W/err")"
	shows keep_growing
	shows_not keep_steady
	shows 'PeriodType: space bytes'
	shows '^Duration: [2-9]'
	get 200 /debug/pprof/heap
	cp "$W/out" "$W/base"
	let_pass
	go tool pprof -raw -diff_base "$W/base" "$url/debug/pprof/heap" >"$W/out" 2>"$W/err" ||
		fail "$(cat "$W/err")"
	shows keep_growing
	# A profile of a log has the same values: it may be the base.
	"$lw" report -f pprof -o "$W/base" "$W/$first.log" || fail "report"
	let_pass
	go tool pprof -raw -diff_base "$W/base" "$url/debug/pprof/heap" >"$W/out" 2>"$W/err" ||
		fail "$(cat "$W/err")"
	shows keep_growing
fi

# One dump serves many, and a process is not asked more often than the interval says.
count() {
	dumps "$W/$first.log" | wc -l
}
let_pass
before=$(count) started_at=$(date +%s)
clients=
for _ in 1 2 3 4 5 6 7 8; do
	curl -s -o /dev/null "$url/debug/pprof/heap" &
	clients="$clients $!"
done
# shellcheck disable=SC2086 # words
wait $clients
asked=$(($(count) - before)) took=$(($(date +%s) - started_at))
[ $asked -le $((took + 2)) ] || fail "8 clients led to $asked dumps in $took s"

# A second program: the path names one of them.
options="log=$W/%p.log:allocated=1" start_growing served2
second=$pid
let_pass
get 409 /pprof/symbol
shows '2 processes are served: /process/PID/pprof/symbol names one'
get 200 "/process/$second/debug/pprof/heap?debug=1"
get 200 "/process/served/debug/pprof/heap?debug=1"
get 200 "/process/$second/debug/pprof/allocs"
gzip -t "$W/out" || fail "the profile is not gzip"
get 200 "/process/$second/debug/pprof/allocs?debug=1"
shows '^1: 5000 \[1: 5000\] @ 0x'
get 400 "/process/$second/debug/pprof/allocs?seconds=1"
if command -v go >/dev/null; then
	go tool pprof -top "$url/process/$second/debug/pprof/allocs" >"$W/out" 2>"$W/err" ||
		fail "$(cat "$W/err")"
	shows '^Type: alloc_space'
fi
get 200 /
shows "href=\"/process/$second/\""
get 200 /metrics
shows "^leakwrap_live_bytes{program=\"served2\",pid=\"$second\"} 6000$"
shows "^leakwrap_up{program=\"served\",pid=\"$first\"} 1$"
shows '^leakwrap_processes 2$'
if command -v promtool >/dev/null; then
	promtool check metrics <"$W/out" >"$W/lint" 2>&1 || fail "$(cat "$W/lint")"
fi

# All processes together. A call site of the same build is one, wherever the program was loaded.
# sum_is BLOCKS PATH: the processes of PATH hold 5,000 bytes in BLOCKS blocks of keep_steady.
sum_is() {
	get 200 "$2?debug=1"
	shows "^$1: $(($1 * 5000)) \[$1: $(($1 * 5000))\] @ 0x"
	equal "call sites of keep_steady in $2" "$(grep -c keep_steady "$W/out")" 1
}
sum_is 2 /debug/pprof/heap
sum_is 2 /all/pprof/heap
sum_is 1 "/process/$first/debug/pprof/heap"
get 200 /debug/pprof/heap
gzip -t "$W/out" || fail "the profile of the sum is not gzip"
if command -v go >/dev/null; then
	go tool pprof -raw "$W/out" >"$W/raw" 2>"$W/err" || fail "$(cat "$W/err")"
	grep -q '^Time: 20' "$W/raw" || fail "the sum has no time: $(cat "$W/raw")"
	grep -q '^ *2 *10000: ' "$W/raw" || fail "$(cat "$W/raw")"
fi
get 200 /all/
shows '"first_merged":true'
get 200 /all/data.json
shows '"live":[1-9]' # seconds: fifty times as long as the longest dump, at least the interval
shows '"merged":2,"programs":2'
options="log=$W/%p.log" start_growing served2 100
third=$pid
let_pass
sum_is 2 /process/served2/debug/pprof/heap
sum_is 3 /debug/pprof/heap
get 200 '/process/served2/debug/pprof/heap?debug=1&seconds=1'
shows keep_growing
shows_not keep_steady
get 200 /process/served2/dump
"$lw" list "$W/out" >"$W/report" || fail "dumps of a program"
equal "dumps of served2" "$(grep -c whole "$W/report")" 2
kill -STOP "$third"
let_pass
sum_is 2 /process/served2/debug/pprof/heap
kill -9 "$third"
let_pass

# The change is over the seconds that are asked for, not over those since the last dump, and not
# over the interval. The program keeps ten blocks more in a second.
whole=$server whole_url=$url
start_server --interval=30 "$first"
get 200 /debug/pprof/heap
sleep 3
before=$(date +%s)
get 200 '/debug/pprof/heap?debug=1&seconds=1'
took=$(($(date +%s) - before))
grown=$(sed -n 's/^heap profile: \([0-9]*\):.*/\1/p' "$W/out")
if [ "$grown" -lt 5 ] || [ "$grown" -gt $((10 * (took + 1))) ]; then
	fail "$grown blocks more in $took seconds: $(cat "$W/out")"
fi
[ "$took" -lt 20 ] || fail "seconds=1 took $took seconds"
kill "$server"
server=$whole url=$whole_url

# A client that has left keeps no connection, though its seconds are not over. Three threads remain:
# the first, the one that asks, and the one that accepts connections.
threads() {
	find "/proc/$server/task" -mindepth 1 -maxdepth 1 | wc -l
}
has_only() {
	[ "$(threads)" -le "$1" ]
}
wait_until "$patience" has_only 3 || fail "a connection stays: $(threads) threads"
for path in "/process/$first/debug/pprof/heap" /debug/pprof/heap; do
	curl -s -m 1 -o /dev/null "$url$path?seconds=3600"
	equal "status of curl, which leaves" $? 28
	wait_until "$patience" has_only 3 || fail "a client that has left keeps $path"
done

# What is not there, or makes no sense.
get 404 "/process/1/debug/pprof/heap"
shows 'no traced process 1 is served'
for path in /no/such/page /process/ /process/../../etc/passwd /../../../etc/passwd \
	"/process/%2e%2e%2fetc%2fpasswd/dump" "/$W/$first.log"; do
	get 404 "$path"
	shows_not root:
done
get 400 "/process/$first/debug/pprof/heap?seconds=-1"
get 400 "/process/$first/debug/pprof/heap?debug=9"
get 405 / -X DELETE
get 403 / -H 'Host: attacker.example'
get 403 / -H 'Host: 127.0.0.2'
get 501 "/process/$first/debug/pprof/allocs"
shows 'start it with allocated=1 or sample='
get 501 "/process/$first/debug/pprof/heap?kinds=all"
shows 'start leakwrap serve with --kinds'
head -c 70000 /dev/zero | tr '\0' a >"$W/long"
get 413 "/process/$first/pprof/symbol" --data-binary "@$W/long"

# A process that is stopped, and one that is gone. Another one takes its place.
kill -STOP "$first"
let_pass
get 502 "/process/$first/debug/pprof/heap"
shows "process $first is stopped"
kill -CONT "$first"
kill -9 "$first"
let_pass
get 404 "/process/$first/debug/pprof/heap"
start_growing served 100
let_pass
get 200 "/process/served/debug/pprof/heap?debug=1"

# With --kinds a process is asked what is lost and what is reachable.
own=$server own_url=$url
start_server --kinds "$pid"
get 200 '/debug/pprof/heap?debug=1'
shows '^#	kinds	reachable 1: 5000$'
get 200 '/debug/pprof/heap?debug=1&kinds=reachable'
shows '1: 5000'
get 200 '/debug/pprof/heap?debug=1&kinds=definite,possible'
! grep -q 5000 "$W/out" || fail "kinds=definite: $(cat "$W/out")"
get 200 '/debug/pprof/heap?debug=1'
shows '1: 5000'
get 400 '/debug/pprof/heap?kinds=lost'
get 400 '/debug/pprof/heap?kinds=all&seconds=1'
get 200 /metrics
labels="program=\"served\",pid=\"$pid\""
shows "^leakwrap_kind_blocks{$labels,kind=\"definite\"} 0$"
shows "^leakwrap_kind_bytes{$labels,kind=\"reachable\"} [0-9]*$"
shows "^leakwrap_pause_seconds{$labels} [0-9.e-]*$"
if command -v promtool >/dev/null; then
	promtool check metrics <"$W/out" >"$W/lint" 2>&1 || fail "$(cat "$W/lint")"
fi
kill -TERM "$server"
server=$own url=$own_url

# Each address of loopback is a host of the server that listens there, and other names are none.
own=$server own_url=$url
start_server --listen=127.0.0.2:0 "$pid"
case $url in http://127.0.0.2:*) ;; *) fail "$url" ;; esac
get 200 /metrics
get 200 /metrics -H 'Host: localhost:80'
get 403 /metrics -H 'Host: 127.0.0.20'
get 403 /metrics -H 'Host: attacker.example'
kill -TERM "$server"
server=$own url=$own_url

# So is one that IPv6 writes another way. The server's first line has it as IPv4.
own=$server own_url=$url
: >"$W/mapped.out"
"$lw" serve --listen='[::ffff:127.0.0.1]:0' "$pid" >"$W/mapped.out" 2>"$W/mapped.err" &
server=$!
started="$started $server"
# has_url: the server listens, or cannot.
has_url() {
	[ -s "$W/mapped.out" ] || [ -s "$W/mapped.err" ]
}
wait_until "$patience" has_url || fail "no server at a mapped address"
if [ -s "$W/mapped.out" ]; then # IPv6 may be switched off
	url=$(sed 's/^leakwrap serve: //; s/\/$//' "$W/mapped.out")
	case $url in http://127.0.0.1:*) ;; *) fail "$url" ;; esac
	get 200 /metrics
	get 403 /metrics -H 'Host: attacker.example'
	kill -TERM "$server"
fi
server=$own url=$own_url
for port in 65536 99999 -1 '' http; do
	status_is 2 timeout -k 1 "$patience" "$lw" serve --listen="127.0.0.1:$port" "$pid"
	said "--listen=127.0.0.1:$port: the port must be a number from 0 to 65535"
done

# A process of another user is told, whether its number or its name was given.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$lw" "$W/lw"
	chmod 755 "$W/lw" "$W"
	own=$server own_url=$url lw="setpriv --reuid=65534 --clear-groups $W/lw"
	start_foreign() {
		rm -f "$W/foreign.out"
		# shellcheck disable=SC2086 # words
		$lw serve --listen=127.0.0.1:0 "$1" >"$W/foreign.out" 2>&1 &
		started="$started $!"
		wait_until "$patience" grep -q http "$W/foreign.out" ||
			fail "$(cat "$W/foreign.out")"
		url=$(sed 's/^leakwrap serve: //; s/\/$//' "$W/foreign.out")
	}
	if $lw --help >/dev/null 2>&1; then
		for named in "$second" served2; do
			start_foreign "$named"
			get 502 /debug/pprof/heap
			shows "process $second: its program cannot be read: Permission denied;"
			get 200 /metrics
			shows "leakwrap_up{program=\"served2\",pid=\"$second\"} 0"
		done
	fi
	server=$own url=$own_url lw=$O/leakwrap
fi

# A process that cannot write its dumps makes one page late. Later pages come before the server has
# given up the process again, until it answers.
own=$server own_url=$url own_first=$pid
options="log=$W/none/log" start_growing served2
mute=$pid
start_server --interval=1 --timeout=8 "$own_first" "$mute"
get 200 /metrics
shows "^leakwrap_up{program=\"served2\",pid=\"$mute\"} 0$"
for _ in 1 2 3; do
	let_pass
	get 200 /metrics -m 6
	shows "^leakwrap_up{program=\"served2\",pid=\"$mute\"} 0$"
	shows "^leakwrap_up{program=\"served\",pid=\"$own_first\"} 1$"
done
get 502 "/process/$mute/debug/pprof/heap" -m 6
shows "no whole dump of process $mute came in time"
mkdir "$W/none"
answers() {
	get 200 /metrics
	grep -q "^leakwrap_up{program=\"served2\",pid=\"$mute\"} 1$" "$W/out"
}
wait_until "$patience" answers || fail "the process is not asked again"
kill -TERM "$server"
server=$own url=$own_url

# Malformed requests end no server, and slow clients hold up nobody.
port=${url##*:}
if command -v bash >/dev/null; then
	for line in 'GET' 'GET / HTTP/9.9' '%00%ff' 'POST / HTTP/1.1\r\nContent-Length: -5' \
		'GET /%zz%00%0a?seconds=%00&&&=&debug HTTP/1.1\r\nHost: localhost'; do
		# shellcheck disable=SC2016 # for the inner shell
		bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1"
			printf "$2\r\n\r\n" >&3
			timeout 1 cat <&3' bash "$port" "$line" >"$W/answer" 2>/dev/null
	done
fi
get 200 "/process/$second/debug/pprof/heap"
status_is 2 "$lw" serve --listen="127.0.0.1:$port"
said 'Address already in use'
kill -TERM "$server"
wait "$server"
equal "status" $? 0
[ ! -s "$W/serve.err" ] || fail "the server said: $(cat "$W/serve.err")"
