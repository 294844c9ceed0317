#!/bin/sh
# leakwrap push sends what the interfaces of Grafana Pyroscope and Parca want, field by field.
#
# What a server does not take waits in a bounded queue.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/live.sh
need go base64
status_is 0 "$lw" push --help
"$lw" push --to=x --queue=/none 2>&1 | grep -q 'without libcurl' && skip "built without libcurl"
$CC -D_GNU_SOURCE -Wall -Wextra -Werror -o "$W/collector" tests/tool/collector.c -lmicrohttpd ||
	skip "no libmicrohttpd"
export HOME="$W" GOCACHE="$W/cache" PPROF_TMPDIR="$W"

build pushed tests/tool/grows.c -Wl,--build-id
start_growing pushed
mkdir "$W/queue" "$W/got" || exit 2
start_collector() {
	: >"$W/port"
	"$W/collector" "$W/got" "$@" >"$W/port" &
	collector=$!
	started="$started $collector"
	wait_until "$patience" test -s "$W/port" || fail "no collector"
	port=$(cat "$W/port")
}
start_collector
push() {
	"$lw" push --to="http://127.0.0.1:$port" --queue="$W/queue" --interval=1 "$@" pushed
}
field() {
	grep -qix -e "$2" "$W/got/$1" || fail "$1 has no '$2': $(head -c 2000 "$W/got/$1")"
}

# Grafana Pyroscope.
status_is 0 push --count=1 --label=region=eu --label=env=test --tenant=team-7
field 1.request 'POST /ingest'
field 1.request "name=pushed{region=eu,env=test,pid=$pid}"
field 1.request 'format=pprof'
from=$(sed -n 's/^from=//p' "$W/got/1.request") until=$(sed -n 's/^until=//p' "$W/got/1.request")
equal "until - from" $((until - from)) 1
[ $(($(date +%s) - until)) -le 60 ] || fail "until=$until is not now"
field 1.headers 'X-Scope-OrgID=team-7'
field 1.headers 'Content-Type=multipart/form-data; boundary=.*'
# value_type NAME UNITS: a member of the configuration.
value_type() {
	printf '"%s":{"units":"%s","aggregation":"average","display-name":"%s","sampled":false}' \
		"$1" "$2" "$1"
}
equal "config" "$(cat "$W/got/1.part.sample_type_config")" \
	"{$(value_type inuse_objects objects),$(value_type inuse_space bytes)}"
# profile_is FILE: the profile has the program, its build-id, and what it holds.
profile_is() {
	go tool pprof -raw "$1" >"$W/out" 2>"$W/err" || fail "$(cat "$W/err")"
	shows 'inuse_objects/count inuse_space/bytes'
	shows "^1: 0x[0-9a-f]*/0x[0-9a-f]*/0x[0-9a-f]* $W/pushed $(build_id "$W/pushed")"
	equal "objects and bytes" "$(awk '
		/^ *[0-9]+ +[0-9]+: / { sub(":", "", $2); b += $1; n += $2 }
		END { print b, n }' "$W/out")" "2 6000"
}
profile_is "$W/got/1.part.profile"
shows keep_steady

# Parca. The server symbolizes: no names, but mappings with build-ids, and addresses.
status_is 0 push --count=1 --protocol=parca --addresses --label=region=eu \
	--label=who="$(printf 'caf\351')"
field 2.request 'POST /profiles/writeraw'
field 2.headers 'Content-Type=application/json'
# A label that is no UTF-8 has an escape.
for label in __name__:memory job:pushed region:eu 'who:caf\\xe9' "pid:$pid"; do
	grep -qF "{\"name\":\"${label%%:*}\",\"value\":\"${label#*:}\"}" "$W/got/2.body" ||
		fail "no label $label: $(head -c 500 "$W/got/2.body")"
done
grep -q '^{"normalized":false,"series":\[{"labels":{"labels":\[' "$W/got/2.body" ||
	fail "$(head -c 200 "$W/got/2.body")"
sed 's/.*"samples":\[{"rawProfile":"\([^"]*\)"}\].*/\1/' "$W/got/2.body" | base64 -d >"$W/raw" ||
	fail "no base64"
gzip -dc "$W/raw" | grep -q keep_steady && fail "addresses have names"
profile_is "$W/raw"

# A server that fails, or is not there, gets the profiles later. One that refuses them does not.
echo 503 >"$W/got/status"
status_is 2 push --count=1
said "answers 503: profiles wait in $W/queue"
equal "queue" "$(find "$W/queue" -type f | wc -l)" 1
kill -9 "$collector"
status_is 2 push --count=1
said "profiles wait in $W/queue"
equal "queue" "$(find "$W/queue" -type f | wc -l)" 2
rm "$W"/got/*
start_collector "$port"
status_is 0 push --count=1
equal "queue" "$(find "$W/queue" -type f | wc -l)" 0
[ -f "$W/got/3.request" ] || fail "what waited was not sent: $(ls "$W/got")"
for status in 400 413; do
	echo $status >"$W/got/status"
	status_is 2 push --count=1
	said "refuses a profile, which is lost: status $status"
	equal "queue" "$(find "$W/queue" -type f | wc -l)" 0
done
# Not the profile is at fault: a proxy, a password, a wrong path, a server that asks for a second
# try.
for status in 302 401 404 408; do
	echo $status >"$W/got/status"
	status_is 2 push --count=1
	case $status in 302) sends=', and sends to http://elsewhere/' ;; *) sends= ;; esac
	said "answers $status$sends: profiles wait"
	equal "queue" "$(find "$W/queue" -type f | wc -l)" 1
	rm "$W"/queue/*
done

# SIGTERM ends the wait for an answer: no message says that the server was too slow.
kill -STOP "$collector"
"$lw" push --to="http://127.0.0.1:$port" --queue="$W/queue" pushed >"$W/out" 2>"$W/err" &
pushing=$!
started="$started $pushing"
wait_until "$patience" sh -c "ls $W/queue | grep -q '^profile-[0-9-]*\$'" || fail "no profile"
sleep 1
kill -TERM $pushing
wait $pushing && fail "push: status 0 with a profile in the queue"
[ ! -s "$W/err" ] || fail "push says: $(cat "$W/err")"
kill -CONT "$collector"
rm "$W"/queue/*

# The queue is bounded, and the oldest profiles go first.
echo 503 >"$W/got/status"
for _ in 1 2 3 4; do
	push --count=1 --queue-bytes=3000 >"$W/out" 2>"$W/err"
	sleep 1
done
said 'the queue is full: 1 profile was dropped'
[ "$(cat "$W"/queue/* | wc -c)" -le 3000 ] || fail "the queue is too large"
# Which are the oldest does not depend on the clock: a profile that waits since the clock was ahead.
rm "$W"/queue/*
printf '/ingest\ntext/plain\nold' >"$W/queue/profile-099999999999-1"
push --count=1 --queue-bytes=1500 >"$W/out" 2>"$W/err"
push --count=1 --queue-bytes=1500 >"$W/out" 2>"$W/err"
[ ! -e "$W/queue/profile-099999999999-1" ] || fail "a newer profile was dropped"
equal "queue" "$(find "$W/queue" -type f | wc -l)" 1

# What a killed push was writing goes, unless another push may still write it.
touch "$W/queue/profile-000000000004-1.part"
touch -d '2 hours ago' "$W/queue/profile-000000000005-1.part" "$W/queue/notes.part"
push --count=1 >"$W/out" 2>&1
equal "half-written" "$(cd "$W/queue" && echo *.part)" 'notes.part profile-000000000004-1.part'

# A profile that cannot be read stays in the queue, and holds up no other. What was read and is no
# profile goes.
rm "$W"/queue/*
echo 200 >"$W/got/status"
ln -s /proc/self/mem "$W/queue/profile-000000000001-1"
mkfifo "$W/queue/profile-000000000002-1"
echo 'no profile' >"$W/queue/profile-000000000003-1"
status_is 2 push --count=1
said 'profile-000000000001-1: Input/output error: it stays in the queue'
said 'profile-000000000002-1: Invalid argument: it stays in the queue'
said 'profile-000000000003-1 is not of the queue, and is removed'
equal "queue" "$(cd "$W/queue" && echo *)" 'profile-000000000001-1 profile-000000000002-1'
if [ "$(id -u)" != 0 ]; then
	chmod 300 "$W/queue"
	status_is 2 push --count=1
	said 'Permission denied'
	chmod 700 "$W/queue"
fi

# Each round has a profile of each process, though the first search for processes takes longer.
cp "$(command -v sleep)" "$W/sleep" || exit 2
mkdir "$W/untraced" "$W/rounds" && mv "$W/sleep" "$W/untraced/pushed" || exit 2
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	for _ in 1 2 3 4 5; do
		"$W/untraced/pushed" 1000 &
		started="$started $!"
	done
done
echo 200 >"$W/got/status"
rm "$W/got"/*.request
status_is 0 "$lw" push --to="http://127.0.0.1:$port" --queue="$W/rounds" --interval=2 --count=3 \
	pushed
equal "profiles of three rounds" "$(find "$W/got" -name '*.request' | wc -l)" 3

# The README's example has all that push needs.
queue=$(sed -n 's/^mkdir -p queue; leakwrap push --to=[^ ]* \([^ ]*\) server$/\1/p' README.md)
[ -n "$queue" ] || fail "README does not make a queue for push"
(
	cd "$W/rounds" && mkdir queue && "$lw" push --to="http://127.0.0.1:$port" "$queue" \
		--count=1 pushed
) || fail "push as in the README: status $?"

status_is 2 push --count=0
said '--count=0: must be a number from 1$'
status_is 2 "$lw" push --to= --queue="$W/queue"
said '--to= needs a value$'
status_is 2 "$lw" push --to="http://127.0.0.1:$port" --queue=/etc/passwd
said '--queue=/etc/passwd: Not a directory$'
status_is 2 push --label=1x=y
said 'NAME=VALUE'
status_is 2 "$lw" push --to=file:///etc/passwd --queue="$W/queue" --count=1 pushed
said 'must begin with http:// or https://$'
status_is 2 "$lw" push --to="http://127.0.0.1:$port" --queue="$W/none" pushed
said 'No such file'
mkdir "$W/waits" || exit 2
status_is 0 "$lw" push --to="http://127.0.0.1:$port" --queue="$W/waits" --count=1 nosuchprogram
said 'no such traced process runs yet'
