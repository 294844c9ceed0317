#!/bin/sh
# leakwrap list names the dumps of every log, whole or torn.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build leaky tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" 3 each || fail leaky
for site in 1 2; do
	echo "56 $site complete 0x1$site 0x333"
done | make_dump 12.1 2026-11-20T18:00:12Z /bin/app 0x10000 abcdef | head -n 7 >"$W/torn"
status_is 0 "$lw" list "$W/log" "$W/torn"
pid=$(sed -n 's/^leakwrap\[\([0-9]*\)\.1\].*/\1/p;' "$W/log" | head -n 1)
equal "list" "$(sed 's/ 20[0-9]*-[0-9-]* [0-9:]*/ TIME/; s/  */ /g; s/^ //' "$W/out")" \
	"pid dump reason time (UTC) live bytes blocks lost bytes state program, log
$pid 1 signal TIME 4,301 3 - whole $W/leaky $W/log
$pid 2 signal TIME 8,602 6 - whole $W/leaky $W/log
$pid 3 signal TIME 8,903 8 - whole $W/leaky $W/log
$pid 4 exit TIME 8,903 8 8,903 whole $W/leaky $W/log
12 1 signal TIME 112 3 - torn /bin/app $W/torn:7: it has no end: the log ends before it"
"$lw" list <"$W/log" >"$W/out" || fail "list of standard input"
shows ' standard input$'
status_is 2 "$lw" list "$W/none" "$W/log"
said 'none: No such file'
shows " $W/log$"
: >"$W/empty"
status_is 2 "$lw" list "$W/log@1"
said 'No such file or directory; list takes a whole log, without @$'
status_is 2 "$lw" list "$W/empty"
said 'empty holds no dump'
"$lw" list "$W/log" >/dev/full 2>"$W/err"
equal "list on a full device" $? 2
{
	cat "$W/log"
	echo "leakwrap[$pid.4] note stray"
} >"$W/stray"
status_is 0 "$lw" list "$W/stray"
said 'come after its end$'
"$lw" list "$W/stray" >/dev/full 2>"$W/err"
equal "list on a full device, with a message" $? 2
said '^leakwrap: standard output: '
