#!/bin/sh
# The page works in a browser without a network: totals, flame graph, table, growth chart.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
. tests/tool/browser.sh

build leaky tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" 5 each || fail leaky
status_is 0 "$lw" report -f html -o "$W/page.html" "$W/log"
! grep -o '\(src\|href\)=.[^"]*' "$W/page.html" || fail "the page refers to something outside"
! grep -v 'www.w3.org/2000/svg' "$W/page.html" | grep -q '//[a-z.]*[a-z]/' ||
	fail "the page names a host"

# first_names: prints the functions of the page's first three call sites.
first_names() {
	grep -o '<span class="name">[a-z_]*' "$W/out" | head -n 3 | sed 's/.*>//' | tr '\n' ' '
}

need_browser
open_page "file://$W/page.html"
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
open_page "file://$W/page.html#kind=reachable"
shows 'data-ready="yes"'
shows 'id="flame" data-total="0"'
shows_not '<tr class="site"'

# The cause of a program's death stands at the top. It is hidden in a dump of another reason.
shows '<section id="crash" hidden=""'
build crash tests/unwind/crash_trace.c
LEAKWRAP_OPTIONS=crash=1:log="$W/died" sh -c '"$0" SEGV' "$W/crash" >/dev/null 2>&1
status_is 0 "$lw" report -f html -o "$W/crash.html" "$W/died"
open_page "file://$W/crash.html"
shows '<section id="crash">'
shows 'id="cause">died of SIGSEGV (code 1, SEGV_MAPERR) at address 0x0 in thread [0-9]*<'
shows 'id="crash-stack"><div><span class="name">fails</span><span class="place">[^<]*crash_trace.c:'
shows '<span class="sub">[a-z]*</span><span>0x[0-9a-f]*</span>'

LEAKWRAP_OPTIONS=log="$W/old" "$W/leaky" 1 || fail leaky
LEAKWRAP_OPTIONS=log="$W/new" "$W/leaky" 2 || fail leaky
status_is 0 "$lw" diff -f html -o "$W/diff.html" "$W/old" "$W/new"
open_page "file://$W/diff.html"
shows 'id="flame" data-total="4301"'
shows '+4,000'

# With --growth the leak stands before the cache, in the table and in the chart.
status_is 0 "$lw" report --growth -f html -o "$W/growth.html" "$W/log"
open_page "file://$W/growth.html"
shows 'the call sites that grew steadily<'
equal "call sites by steady growth" "$(first_names)" 'keep_inlined open_shop fill_cache '
shows_not 'fill_cache ← main'

# One backtrace in two tasks is one row, with the gain of both.
for number in 1 2; do
	printf '100 2 complete 0x10 0x20\n%s 1 complete 0x10 0x20\n' $((40 + 10 * number)) |
		make_dump 3.$number 2026-11-20T18:00:0${number}Z /x/y 0x1000 none
done | sed '/site 1/s/$/ task=rx/; /site 2/s/$/ task=tx/' >"$W/tasks"
status_is 0 "$lw" report -f html -o "$W/tasks.html" "$W/tasks"
open_page "file://$W/tasks.html"
shows '<td class="up">+10</td>'
shows_not '<td class="up">+50</td>'

# Table and chart have the function that asked for the memory, not the wrapper. Many processes are
# one view.
build wrappers tests/tool/wrappers.c
for number in 1 2 3 4 5; do
	LEAKWRAP_OPTIONS=log="$W/wrappers.$number" "$W/wrappers" $number || fail wrappers
done
status_is 0 "$lw" report -f html -o "$W/wrappers.html" "$W/wrappers.5"
open_page "file://$W/wrappers.html"
equal "asked by" "$(first_names)" 'open_table open_table allocate_session '
shows '</span>open_table ← main: '
shows_not 'title="zmalloc'
status_is 0 "$lw" report --no-skip -f html -o "$W/wrappers.html" "$W/wrappers.5"
open_page "file://$W/wrappers.html"
shows 'title="zmalloc'
shows '</span>try_malloc_usable_internal ← zmalloc ← open_table: '
status_is 0 "$lw" report -f html -o "$W/many.html" "$W"/wrappers.[1-5]
open_page "file://$W/many.html"
shows 'id="when" class="sub">all 5 processes, the last dump of each<'
equal "asked by, of all processes" "$(first_names)" 'open_table open_table allocate_session '
shows '>Processes<'
total=0
for number in 1 2 3 4 5; do
	total=$((total + $(dump_value "$W/wrappers.$number" $((number + 1)) live_bytes)))
done
shows "id=\"rows\" data-total=\"$total\""
status_is 0 "$lw" report -f html -o "$W/two.html" "$W/wrappers.1" "$W/wrappers.2"
open_page "file://$W/two.html"
shows 'id="when" class="sub">process [0-9]*, dump 3 (exit)'
shows '>all 2 processes, the last dump of each</option>'

screenshot "file://$W/page.html"
