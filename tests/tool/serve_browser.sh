#!/bin/sh
# The page of leakwrap serve updates itself in a browser, and Prometheus scrapes its numbers.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/live.sh
. tests/tool/browser.sh
need_server

build watched tests/tool/grows.c
start_growing watched 4000
start_server --interval=1 watched

if command -v prometheus >/dev/null; then
	promtool check rules tools/examples/alerts.yml >"$W/out" 2>&1 || fail "$(cat "$W/out")"
	sed "s/localhost:8417/${url#http://}/; s/30s/1s/; s/15s/1s/" tools/examples/prometheus.yml \
		>"$W/prometheus.yml"
	prometheus --config.file="$W/prometheus.yml" --storage.tsdb.path="$W/data" \
		--web.listen-address=127.0.0.1:0 --log.format=logfmt 2>"$W/prometheus.log" &
	started="$started $!"
	# Prometheus does not say its port, but the kernel does.
	prometheus=$!
	web=
	find_port() {
		web=$(ss -Hltnp 2>/dev/null |
			sed -n "s/.*127.0.0.1:\([0-9]*\) .*pid=$prometheus,.*/\1/p")
		[ -n "$web" ]
	}
	command -v ss >/dev/null && wait_until "$patience" find_port || web=
	scraped() {
		curl -s "http://127.0.0.1:$web/api/v1/query?query=leakwrap_live_bytes" >"$W/out"
		grep -q "\"pid\":\"$pid\",\"program\":\"watched\"" "$W/out"
	}
	[ -z "$web" ] || wait_until "$patience" scraped || fail "not scraped: $(cat "$W/out")"
	kill -9 $prometheus
fi

need_browser
open_page "$url/" --virtual-time-budget=8000
shows 'data-ready="yes"'
shows 'data-updates="[1-9]'
shows '>keep_growing<'
shows '<button id="live" aria-pressed="true">'
shows 'id="live-error" class="warn"></span>'
! grep 'CONSOLE' "$W/browser" | grep -v favicon || fail "the page complains"
screenshot "$url/" --virtual-time-budget=3000

# All processes together.
start_growing watched 4000
let_pass
open_page "$url/all/" --virtual-time-budget=4000
shows 'data-updates="[1-9]'
shows 'all 2 processes, the last dump of each'
! grep 'CONSOLE' "$W/browser" | grep -v favicon || fail "the page of all complains"
