#!/bin/sh
# The page works in a browser without a network: totals, flame graph, table, growth chart.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build leaky tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" 5 each || fail leaky
status_is 0 "$lw" report -f html -o "$W/page.html" "$W/log"
! grep -o '\(src\|href\)=.[^"]*' "$W/page.html" || fail "the page refers to something outside"
! grep -v 'www.w3.org/2000/svg' "$W/page.html" | grep -q '//[a-z.]*[a-z]/' ||
	fail "the page names a host"

browser=
for name in chromium chromium-browser google-chrome; do
	command -v $name >/dev/null && browser=$name && break
done
[ -n "$browser" ] || skip "chromium is not installed"
export HOME="$W" XDG_CONFIG_HOME="$W" XDG_CACHE_HOME="$W"
browse() {
	timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$W/profile" "$@" 2>"$W/browser"
}
browse --dump-dom "file://$W/page.html" >"$W/out" || skip "$browser does not run here"
shows 'data-ready="yes"'
total=$(dump_value "$W/log" 6 live_bytes)
shows "id=\"flame\" data-total=\"$total\""
shows "id=\"rows\" data-total=\"$total\""
shows 'title="keep_inlined ('
shows '<polyline points='
shows 'fill_cache ← main'
shows '<option value="5">'

# The page begins with what is lost. A link chooses one kind for the graph, the table and the chart.
shows 'id="numbers"><div class="number alert"><b>[0-9.]* KiB</b><span class="sub">definitely lost'
shows '<button>Definitely lost ↓</button>'
shows '</span> <span class="warn">definitely lost</span>'
browse --dump-dom "file://$W/page.html#kind=reachable" >"$W/out" || fail "#kind=reachable"
shows 'data-ready="yes"'
shows 'id="flame" data-total="0"'
shows_not '<tr class="site"'

# The cause of a program's death stands at the top. It is hidden in a dump of another reason.
shows '<section id="crash" hidden=""'
build crash tests/unwind/crash_trace.c
LEAKWRAP_OPTIONS=crash=1:log="$W/died" sh -c '"$0" SEGV' "$W/crash" >/dev/null 2>&1
status_is 0 "$lw" report -f html -o "$W/crash.html" "$W/died"
browse --dump-dom "file://$W/crash.html" >"$W/out" || fail "crash"
shows '<section id="crash">'
shows 'id="cause">died of SIGSEGV (code 1, SEGV_MAPERR) at address 0x0 in thread [0-9]*<'
shows 'id="crash-stack"><div><span class="name">fails</span><span class="place">[^<]*crash_trace.c:'
shows '<span class="sub">[a-z]*</span><span>0x[0-9a-f]*</span>'

LEAKWRAP_OPTIONS=log="$W/old" "$W/leaky" 1 || fail leaky
LEAKWRAP_OPTIONS=log="$W/new" "$W/leaky" 2 || fail leaky
status_is 0 "$lw" diff -f html -o "$W/diff.html" "$W/old" "$W/new"
browse --dump-dom "file://$W/diff.html" >"$W/out" || fail "diff"
shows 'id="flame" data-total="4301"'
shows '+4,000'

# With --growth the leak stands before the cache, in the table and in the chart.
status_is 0 "$lw" report --growth -f html -o "$W/growth.html" "$W/log"
browse --dump-dom "file://$W/growth.html" >"$W/out" || fail "growth"
shows 'the call sites that grew steadily<'
names=$(grep -o '<span class="name">[a-z_]*' "$W/out" | head -n 3 | sed 's/.*>//' | tr '\n' ' ')
equal "call sites by steady growth" "$names" \
	'keep_inlined open_shop fill_cache '
shows_not 'fill_cache ← main'

# One backtrace in two tasks is one row, with the gain of both.
for number in 1 2; do
	printf '100 2 complete 0x10 0x20\n%s 1 complete 0x10 0x20\n' $((40 + 10 * number)) |
		make_dump 3.$number 2026-11-20T18:00:0${number}Z /x/y 0x1000 none
done | sed '/site 1/s/$/ task=rx/; /site 2/s/$/ task=tx/' >"$W/tasks"
status_is 0 "$lw" report -f html -o "$W/tasks.html" "$W/tasks"
browse --dump-dom "file://$W/tasks.html" >"$W/out" || fail "tasks"
shows '<td class="up">+10</td>'
shows_not '<td class="up">+50</td>'

# Table and chart have the function that asked for the memory, not the wrapper. Many processes are
# one view.
build wrappers tests/tool/wrappers.c
for number in 1 2 3 4 5; do
	LEAKWRAP_OPTIONS=log="$W/wrappers.$number" "$W/wrappers" $number || fail wrappers
done
names() {
	grep -o '<span class="name">[a-z_]*' "$W/out" | head -n 3 | sed 's/.*>//' | tr '\n' ' '
}
status_is 0 "$lw" report -f html -o "$W/wrappers.html" "$W/wrappers.5"
browse --dump-dom "file://$W/wrappers.html" >"$W/out" || fail "wrappers"
equal "asked by" "$(names)" 'open_table open_table allocate_session '
shows '</span>open_table ← main: '
shows_not 'title="zmalloc'
status_is 0 "$lw" report --no-skip -f html -o "$W/wrappers.html" "$W/wrappers.5"
browse --dump-dom "file://$W/wrappers.html" >"$W/out" || fail "--no-skip"
shows 'title="zmalloc'
shows '</span>try_malloc_usable_internal ← zmalloc ← open_table: '
status_is 0 "$lw" report -f html -o "$W/many.html" "$W"/wrappers.[1-5]
browse --dump-dom "file://$W/many.html" >"$W/out" || fail "many processes"
shows 'id="when" class="sub">all 5 processes, the last dump of each<'
equal "asked by, of all processes" "$(names)" 'open_table open_table allocate_session '
shows '>Processes<'
total=0
for number in 1 2 3 4 5; do
	total=$((total + $(dump_value "$W/wrappers.$number" $((number + 1)) live_bytes)))
done
shows "id=\"rows\" data-total=\"$total\""
status_is 0 "$lw" report -f html -o "$W/two.html" "$W/wrappers.1" "$W/wrappers.2"
browse --dump-dom "file://$W/two.html" >"$W/out" || fail "two processes"
shows 'id="when" class="sub">process [0-9]*, dump 3 (exit)'
shows '>all 2 processes, the last dump of each</option>'

browse --screenshot="$W/page.png" --window-size=1300,1000 "file://$W/page.html" >/dev/null ||
	fail "screenshot"
[ "$(wc -c <"$W/page.png")" -gt 20000 ] || fail "the screenshot is empty"
