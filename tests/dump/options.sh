#!/bin/sh
# Every option does what it says; a bad option costs one line on standard error.
#
# Bad are a bad value, an unknown key, and text that is no option. The program runs on, and the
# option keeps the value that it had.
. tests/lib.sh

build_program_only options tests/dump/options.c
usr1=$(kill -l USR1 2>/dev/null) && [ "$usr1" -gt 0 ] 2>/dev/null || usr1=10

# run OPTIONS [SIGNAL...]: runs the program. $log gets its dumps and complaints.
log=$W/log
run() {
	options=$1
	shift
	LEAKWRAP_OPTIONS=$options "$W/options" "$@" >"$W/out" 2>"$log"
	status=$?
}

complaints() {
	grep -cv '^leakwrap\[[0-9]*\.[0-9]*\] ' "$log"
}

# Without options.
run '' "$usr1"
equal "status" $status 0
equal "dumps" "$(dumps "$log" | wc -l)" 2
equal "complaints" "$(complaints)" 0

# signal=
run signal=USR2 12
equal "signal=USR2" "$status $(grep -c reason=signal "$log")" "0 1"
run signal=SIGUSR2 12
equal "signal=SIGUSR2" "$status $(grep -c reason=signal "$log")" "0 1"
run signal=12 12
equal "signal=12" "$status $(grep -c reason=signal "$log")" "0 1"
run signal=RTMIN+3 +3 +3
equal "signal=RTMIN+3" "$status $(grep -c reason=signal "$log")" "0 2"
run signal=none
equal "signal=none" "$status $(dumps "$log" | wc -l)" "0 1"
run signal=none "$usr1"
equal "signal=none, and the signal" "$status $(dumps "$log" | wc -l)" "$((128 + usr1)) 0"
run signal=USR2 "$usr1"
equal "signal=USR2, and SIGUSR1" "$status $(dumps "$log" | wc -l)" "$((128 + usr1)) 0"

# exit=
run exit=0 "$usr1"
equal "exit=0" "$status $(grep -c reason=exit "$log") $(dumps "$log" | wc -l)" "0 0 1"
run exit=1
equal "exit=1" "$status $(grep -c reason=exit "$log")" "0 1"

# top=, min_bytes=: they bound the list, and not the totals.
run top=1
equal "top=1" "$(dump_sites "$log" 1 | wc -l)" 1
equal "top=1: the largest" "$(site_by "$log" 1 large)" "100000 1"
equal "top=1: total" "$(dump_value "$log" 1 live_bytes)" 101010
run top=0
equal "top=0" "$(dump_sites "$log" 1 | wc -l)" 3
equal "largest first" "$(dump_sites "$log" 1 | cut -d' ' -f1 | tr '\n' ' ')" "100000 1000 10 "
run min_bytes=1000
equal "min_bytes=1000" "$(dump_sites "$log" 1 | wc -l)" 2
equal "min_bytes=1000: total" "$(dump_value "$log" 1 live_blocks)" 3

# depth=, unwind=
run depth=1
equal "depth=1" "$(dump_sites "$log" 1 | sort -n | sed -n '1s/ truncated small;$//p')" "10 1"
"$O/leakwrap" report "$log" >"$W/report" || fail "report: status $?"
"$O/leakwrap" report -f html "$log" >"$W/page" || fail "report -f html: status $?"
equal "depth=1: stacks that the report calls cut" \
	"$(grep -c '^  #.*, stack cut at depth=1$' "$W/report")" 3
grep -q '"sites":\[\[0,100000,1,3,' "$W/page" || fail "depth=1: the page does not say it"
run unwind=fp
equal "unwind=fp" "$(site_through "$log" 1 main)" "101010 3"
run unwind=auto
equal "unwind=auto" "$(site_by "$log" 1 large)" "100000 1"

# memory=: the value has a unit or none.
for memory in 8M 8m 8192K 8388608; do
	run memory=$memory
	equal "memory=$memory" "$(complaints) $(dump_value "$log" 1 live_blocks)" "0 3"
done

# An option that needs all blocks has them.
run misuse=report:sample=1
equal "a sample with misuse=" "$(grep -c 'misuse= needs all blocks: sample= is ignored' "$log")" 1
equal "a sample with misuse=: blocks" "$(dump_value "$log" 1 live_blocks)" 3
run misuse=report:record=0
equal "no record with misuse=" "$(grep -c 'misuse= needs all blocks: record=0 is ignored' "$log")" 1
equal "no record with misuse=: blocks" "$(dump_value "$log" 1 live_blocks)" 3

# log=: %p %n %e %%, a quoted value with a colon in it.
run "log=$W/dump-%p-%n-%e-%%" "$usr1"
equal "log=: standard error" "$(wc -c <"$log")" 0
pattern=$(cd "$W" && echo dump-*-1-options-%)
pid=${pattern#dump-}
pid=${pid%%-*}
equal "log=: the first dump" "$(dumps "$W/dump-$pid-1-options-%")" "$pid.1"
equal "log=: the second dump" "$(dumps "$W/dump-$pid-2-options-%")" "$pid.2"
run "log=\"$W/with:colon\":exit=1"
equal "log=\"...\"" "$(dumps "$W/with:colon" | wc -l)" 1
run "log='$W/with:other':top=2"
equal "log='...'" "$(dump_sites "$W/with:other" 1 | wc -l)" 2
run "exit=1:log=stderr:top=2"
equal "several" "$(dump_sites "$log" 1 | wc -l)" 2

# If the tracer cannot open the log, the dump is lost, and the program runs on.
run "log=$W/no/such/folder"
equal "log= in no folder" $status 0

# Bad values.
while read -r bad; do
	run "$bad"
	equal "$bad: status" $status 0
	equal "$bad: complaints" "$(complaints)" 1
	equal "$bad: dump" "$(dump_sites "$log" 1 | wc -l)" 3
	run "$bad:top=1"
	equal "$bad:top=1: the next option" "$(dump_sites "$log" 1 | wc -l)" 1
done <<-END
	signal=NOSUCH
	signal=0
	signal=-1
	signal=1000
	signal=RTMIN+1000
	signal=KILL
	signal=SIGSTOP
	signal=9
	signal=SEGV
	signal=
	exit=2
	exit=yes
	exit=
	depth=0
	depth=-1
	depth=100000
	depth=1x
	depth=
	top=-1
	top=x
	min_bytes=-5
	min_bytes=99999999999999999999999
	unwind=magic
	memory=much
	memory=1Q
	memory=-1
	log=
	log="/tmp/unclosed
	log=/tmp/%z
	log=/tmp/%p%
	signal=33
	dump_at="live:10M,live:30M"
	dump_at="failure,failure"
	dump_at="live:0"
	dump_at="rss:0K"
	dump_at="limit:50,rss:1G,limit:60"
	fail=nth=1000,below=a,below=b
	fail=nth=1000,sticky,sticky
	fail=rate=1000,seed=1,seed=2
	log="/tmp/a:b".log
	nonsense=1
	nonsense
	=1
END

# The message names the bad value, shortened if it is long, and describes a good value.
run depth=100000:top=1
bad="cannot be used"
grep -q "^leakwrap: option 'depth=100000' $bad, and is ignored: it takes 1 to 256; " "$log" ||
	fail "a bad value is not shown: $(head -n 1 "$log")"
for bad in signal=KILL signal=9 signal=SIGSTOP; do
	run $bad
	why="; KILL and STOP cannot be caught, "
	grep -q "^leakwrap: option '$bad' cannot be used, .*$why" "$log" ||
		fail "that a signal cannot be caught is not said: $(head -n 1 "$log")"
done
run signal=33
grep -q "^leakwrap: option 'signal=33' .* to below RTMIN+0 are the C library's own; " "$log" ||
	fail "that a signal is the C library's is not said: $(head -n 1 "$log")"
run log=/tmp/%z
grep -q "^leakwrap: option 'log=/tmp/%z' .* in it p, n, e, h or % follows each %; " "$log" ||
	fail "the conversions are not said: $(head -n 1 "$log")"
for bad in 'dump_at="live:1,live:2"' fail=nth=1000,below=a,below=b; do
	run "$bad"
	grep -q "^leakwrap: option '$bad' cannot be used, .* once at most; " "$log" ||
		fail "that a part stands there twice is not said: $(head -n 1 "$log")"
done
run dump_at=live:10M,failure
grep -q "^leakwrap: option 'dump_at=live' .*; for a shell: LEAKWRAP_OPTIONS='dump_at=\"limit:90" \
	"$log" ||
	fail "the quotes are not said: $(head -n 1 "$log")"
for bad in memory=1Q min_bytes=1Q; do
	run $bad
	why=": it takes BYTES; K, M and G may follow; "
	grep -q "^leakwrap: option '$bad' cannot be used, .*$why" "$log" ||
		fail "the units are not said: $(head -n 1 "$log")"
done
run 'log="/tmp/a.log:top=1'
grep -q "^leakwrap: option 'log=\"/tmp/a.log' is ignored: its quotation mark is not closed; " \
	"$log" || fail "a quotation mark that is not closed: $(head -n 1 "$log")"
equal "the option behind it" "$(dump_sites "$log" 1 | wc -l)" 1
run nonsense=7
grep -q "^leakwrap: option 'nonsense=7' is unknown, and ignored; " "$log" ||
	fail "an unknown option: $(head -n 1 "$log")"
run "log=/$(printf '%0200d' 0)$(printf '%05000d' 1)"
grep -q "^leakwrap: option 'log=/0*\.\.\.' cannot be used" "$log" ||
	fail "a long value: $(head -n 1 "$log")"

# help=1: it prints every key with its default, and the program runs on.
run help=1
equal "help=1: status" $status 0
for key in log=stderr signal=USR1 exit=1 depth=64 top=0 min_bytes=0 unwind=auto memory= help=; do
	grep -v '^leakwrap\[' "$log" | grep -qF "$key" ||
		grep -F "${key%%=*}" "$log" | grep -qF "${key#*=}" ||
		fail "help=1 does not say $key"
done

# The manual's example keeps its quotes in a shell.
manual_text wrap/man/leakwrap-options.7 >"$W/manual"
example=$(sed -n "s/^ *\(LEAKWRAP_OPTIONS='dump_at=.*'\) \.\/app$/\1/p" "$W/manual")
[ -n "$example" ] || fail "leakwrap-options(7) has no dump_at= for a shell"
(eval "$example \"\$W/options\"") >"$W/out" 2>"$log" || fail "$example: status $?"
! grep -q -e 'cannot be used' -e 'is unknown' "$log" || fail "$example: $(cat "$log")"

# A value that cannot be used changes nothing.
build no_exit -DDEFAULTS='"exit=0"' tests/dump/options.c
LEAKWRAP_OPTIONS=exit=2 "$W/no_exit" >"$W/out" 2>"$log" || fail "exit=2: status $?"
equal "exit=2 after exit=0: dumps" "$(dumps "$log" | wc -l)" 0

# The program's own defaults apply unless the environment overrides them.
build defaults -DDEFAULTS='"top=1:depth=2"' tests/dump/options.c
"$W/defaults" >"$W/out" 2>"$log"
equal "default options" "$(dump_sites "$log" 1 | wc -l)" 1
LEAKWRAP_OPTIONS=top=2 "$W/defaults" >"$W/out" 2>"$log"
equal "default options, and others" "$(dump_sites "$log" 1 | wc -l)" 2

# A program may allocate before the C library has started, which then has no environment yet.
cat >"$W/early.c" <<'END'
#include <stdlib.h>
static void *volatile kept;
static void allocate(void) { kept = malloc(1); }
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = allocate;
int main(void) { return kept == NULL; }
END
for static in '' -static; do
	build "early$static" $static "$W/early.c"
	LEAKWRAP_OPTIONS=log=$W/early$static.log "$W/early$static" 2>"$log" ||
		fail "early$static: status $?"
	equal "early$static: dumps in the log" "$(dumps "$W/early$static.log" | wc -l)" 1
	equal "early$static: on standard error" "$(wc -c <"$log")" 0
done
