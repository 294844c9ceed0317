#!/bin/sh
# A text report shows the last dump of each process, 20 call sites, and frames down to main.
#
# It shows all if asked to. Many processes are one report.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

build leaky tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" 3 each || fail leaky

# -- the last dump, down to main -------------------------------------------------------------------
status_is 0 "$lw" report "$W/log"
equal "dumps" "$(grep -c ', dump [0-9]' "$W/out")" 1
shows ', dump 4 at exit'
shows '^      main  '
shows_not '_start\|__libc_start'
hidden="Not shown: 3 earlier dumps and frames beyond main: --all shows them."
equal "what is not shown" "$(tail -n 1 "$W/out")" "$hidden  leakwrap list names the dumps."
status_is 0 "$lw" report --all "$W/log"
equal "all dumps" "$(grep -c ', dump [0-9]' "$W/out")" 4
shows '^      _start  '
shows_not 'Not shown'
status_is 0 "$lw" report "$W/log@1" "$W/log@2"
equal "chosen dumps" "$(grep -c ', dump [12] on signal' "$W/out")" 2
status_is 0 "$lw" diff "$W/log@1" "$W/log@2"
shows_not '_start'
status_is 0 "$lw" diff --all "$W/log@1" "$W/log@2"
shows '^      _start  '
# Formats for machines have everything.
status_is 0 "$lw" report -f json "$W/log"
equal "JSON: dumps" "$(grep -o '"sequence":' "$W/out" | wc -l)" 4
shows '"function":"_start"'
status_is 0 "$lw" report -f folded "$W/log"
shows '^_start;'

# A recursion is written once: of one function, and of two.
for cycle in 0x20 "0x20 0x30"; do
	echo "100 1 complete 0x10 $cycle $cycle $cycle $cycle $cycle $cycle $cycle 0x40" |
		make_dump 7.1 2026-11-20T18:36:01Z /no/such/program 0x10000 none >"$W/recursive"
	status_is 0 "$lw" report "$W/recursive"
	frames=$(sed -n 's/^      \(?  *program+\)*//p' "$W/out" | paste -sd' ')
	case $cycle in
	0x20) equal "recursion" "$frames" "0x10 0x20 (6 more times) 0x40" ;;
	*) equal "mutual recursion" "$frames" \
		"0x10 0x20 0x30 (these 2 frames 6 more times) 0x40" ;;
	esac
	status_is 0 "$lw" report --all "$W/recursive"
	equal "--all: frames" "$(grep -c '^      ' "$W/out")" $((2 + 7 * $(echo "$cycle" | wc -w)))
done

# A thread's stack ends with the thread's start function.
cat >"$W/thread.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
void *volatile kept;
static void *work(void *none) { kept = malloc(77); return none; }
int main(void)
{
	pthread_t thread;
	return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);
}
END
build thread "$W/thread.c"
LEAKWRAP_OPTIONS=log="$W/thread.log" "$W/thread" || fail thread
status_is 0 "$lw" report "$W/thread.log"
shows '^      work  '
shows_not '^ *\(start_thread\|clone\|__libc_[a-z_]*\|_start\)'

# -- 20 call sites ---------------------------------------------------------------------------------
for site in $(seq 25); do
	echo "$((1000 - site)) 1 complete 0x$((site + 1000)) 0x10"
done | make_dump 3.1 2026-11-20T18:00:00Z /x/y 0x1000 none >"$W/sites"
shown() {
	status_is 0 "$lw" report "$@" "$W/sites"
	equal "call sites with $*" "$(grep -c '^  #' "$W/out")" "$wanted_sites"
}
wanted_sites=20
shown
equal "5 more" "$(tail -n 1 "$W/out")" "Not shown: 5 call sites: --all shows them."
wanted_sites=25
shown --all
shown --top=0
wanted_sites=24
shown --top=24
equal "1 more" "$(tail -n 1 "$W/out")" "Not shown: 1 call site: --all shows them."
status_is 0 "$lw" report -f json "$W/sites"
equal "JSON: call sites" "$(grep -c '"rank"' "$W/out")" 25

# -- many processes --------------------------------------------------------------------------------
# Twelve processes of one program have other addresses. One in three leaks at a second place. There
# is another program, too.
for pid in $(seq 11 22); do
	bias=$(printf 0x%x $((pid * 65536)))
	{
		echo "$pid 1 complete 0x111 0x333"
		[ $((pid % 3)) != 0 ] || echo "100 2 complete 0x222 0x333"
	} | make_dump "$pid.1" "2026-11-20T18:00:${pid}Z" /bin/app "$bias" abcdef >"$W/many.$pid"
	make_dump "$pid.2" "2026-11-20T18:01:${pid}Z" /bin/app "$bias" abcdef \
		<<-END >>"$W/many.$pid"
		$((pid * 10)) 1 complete 0x111 0x333
		$((pid % 3 ? 50 : 100)) 2 complete 0x$((pid % 3 ? 444 : 222)) 0x333
	END
done
status_is 0 "$lw" report "$W"/many.*
equal "titles" "$(grep -c '^/bin/app, ' "$W/out")" 1
shows '^/bin/app, the last dumps of 12 processes, 2026-11-20 18:01:11 to 18:01:22 UTC$'
shows '^  2,780 bytes (2.71 KiB) live in 36 blocks at 3 call sites$'
equal "merged" "$(grep '^  #' "$W/out")" \
	"  #1 1,980 bytes in 12 blocks, 71.2 %, in 12 of 12 processes
  #2 400 bytes in 16 blocks, 14.4 %, in 8 of 12 processes
  #3 400 bytes in 8 blocks, 14.4 %, in 4 of 12 processes"
hidden="Not shown: 12 earlier dumps: --all shows them."
advice="--each reports each process, leakwrap list names their dumps."
equal "how to see them" "$(tail -n 1 "$W/out")" "$hidden  $advice"
status_is 0 "$lw" report --each "$W"/many.*
equal "each" "$(grep -c '^/bin/app, process [0-9]*, dump 2' "$W/out")" 12
status_is 0 "$lw" report --all "$W"/many.*
equal "all" "$(grep -c '^/bin/app, process [0-9]*, dump [12]' "$W/out")" 24
status_is 0 "$lw" report --by=module "$W"/many.*
equal "by module" "$(awk '$NF == "/bin/app" { print $1, $2, $3 }' "$W/out")" "2,780 36 3"
status_is 0 "$lw" report "$W/many.11" "$W/many.12" "$W/many.13" "$W/many.14"
equal "four are not many" "$(grep -c '^/bin/app, process' "$W/out")" 4
status_is 0 "$lw" report --merge "$W/many.11" "$W/many.12"
shows '^/bin/app, the last dumps of 2 processes'
sed 's|/bin/app|/opt/copy/app|; s|app+|app+|' "$W/many.13" >"$W/copy"
status_is 0 "$lw" report --merge "$W/many.11" "$W/copy"
shows '^2 programs, the last dumps of 2 processes'
shows '^  #1 240 bytes in 2 blocks, 70.6 %, in 2 of 2 processes'
status_is 0 "$lw" report -f json "$W"/many.*
equal "JSON: dumps" "$(grep -o '"sequence":' "$W/out" | wc -l)" 24
status_is 2 "$lw" report --merge -f json "$W"/many.*
said '^leakwrap: --merge is not for json, which has every process of its own$'
status_is 1 "$lw" report --fail-on-leaks "$W"/many.*
equal "judged" "$(grep -c ' are live$' "$W/err")" 10
said '^leakwrap: and 2 more processes$'

# A number with a unit has three digits.
while read -r bytes unit; do
	echo "$bytes 1 complete 0x111" |
		make_dump 1.1 2026-11-20T18:00:00Z /bin/app 0 none >"$W/one"
	status_is 0 "$lw" report "$W/one"
	equal "$bytes bytes" "$(sed -n 's/^  [0-9,]* bytes (\(.*\)) live.*/\1/p' "$W/out")" "$unit"
done <<-END
	1024 1.00 KiB
	10239 10.0 KiB
	1048063 1023 KiB
	1048575 1.00 MiB
	9223372036854775807 8.00 EiB
END

# diff names the processes that the user can choose.
cat "$W"/many.* >"$W/all"
status_is 2 "$lw" diff "$W/all" "$W/log@1"
several='several processes (11, 12, 13 and 9 more, see leakwrap list)'
said "all has dumps of $several: choose one as LOG@PID:N\$"
status_is 2 "$lw" diff "$W/all@2" "$W/log@1"
said '(11, 12, 13 and 9 more'
