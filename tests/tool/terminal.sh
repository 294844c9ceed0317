#!/bin/sh
# On a terminal a report has colour, lines that fit, and progress; elsewhere it has none of these.
#
# The user can switch colour off. Progress leaves nothing behind. A failed write is an error, a
# reader that goes away is none.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need script g++

cat >"$W/names.cc" <<'END'
#include <cstdlib>
#include <map>
#include <string>
std::map<std::string, std::map<std::string, long>> *volatile kept;
int main()
{
	kept = new std::map<std::string, std::map<std::string, long>>;
	const char *key = "a key that is too long for the string itself";
	(*kept)[key]["and one more, which is no shorter"] = 1;
}
END
flags=$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_STATIC_LDLIBS)
# shellcheck disable=SC2086 # flags
g++ -g -O1 -static-libstdc++ -o "$W/names" "$W/names.cc" $flags || fail names
LEAKWRAP_OPTIONS=log="$W/log" "$W/names" || fail names
escape=$(printf '\033')

# on_terminal COLUMNS COMMAND: runs the command on a terminal. $W/out gets all its output.
on_terminal() {
	TERM=${term-xterm} script -qec "stty cols $1; $2" /dev/null </dev/null >"$W/raw" 2>&1 ||
		fail "$2: $(cat "$W/raw")"
	tr -d '\r' <"$W/raw" >"$W/out"
}
on_terminal 200 "$lw report --no-skip $W/log"
shows "$escape\\[36m.*std::"
NO_COLOR=1 on_terminal 200 "$lw report $W/log"
shows_not "$escape"
NO_COLOR='' on_terminal 200 "$lw report $W/log"
shows "$escape"
term=dumb on_terminal 200 "$lw report $W/log"
shows_not "$escape"
on_terminal 200 "$lw report --color=never $W/log"
shows_not "$escape"
NO_COLOR=1 on_terminal 200 "$lw report --color=always $W/log"
shows "$escape"
status_is 0 "$lw" report --no-skip "$W/log"
shows_not "$escape"
shows 'std::.*<.*std::.*  */.*/stl_tree.h:[0-9]*' # the name is not cut

for columns in 40 60 80 120; do
	for by in "" --no-skip --by=function; do
		on_terminal $columns "$lw report --color=never $by $W/log"
		# The numbers alone need more columns.
		[ "$by" = --by=function ] && [ $columns -lt 80 ] && continue
		grep '^      ' "$W/out" | awk -v most=$columns 'length($0) > most' >"$W/wide"
		[ ! -s "$W/wide" ] || fail "$columns columns: $(cat "$W/wide")"
	done
done
# No character of UTF-8 is cut into pieces, which would be shown as "?".
accents=éééééééééééééééééééééééééééééééééééééééé
cat >"$W/accents" <<END
leakwrap[7.1] dump version=1 reason=exit time=2026-11-20T18:36:01Z program=/été
leakwrap[7.1] total live_bytes=1 live_blocks=1 call_sites=1
leakwrap[7.1] site 1: 1 bytes in 1 block, complete
leakwrap[7.1]   #0 0x1010 $accents+0x10 [1] $accents+0x10
leakwrap[7.1] module 1 0x1000-0x2000 bias=0x1000 build_id=none path=/$accents
leakwrap[7.1] end sites=1 lines=6 dump_ns=1
END
for columns in 60 61 62 63; do
	on_terminal $columns "$lw report --color=never $W/accents"
	shows '^      [^ ?]*\.\.\.  \.\.\.[^ ?]*+0x10$'
done
on_terminal 60 "$lw report --color=never --no-skip $W/log"
shows '^      main  *\.*.*names.cc:9$'
shows '^      \.\.\.[^ ]*(\.\.\.)  \.\.\.'

build crash tests/unwind/crash_trace.c
LEAKWRAP_OPTIONS=crash=1:log="$W/died" sh -c '"$0" SEGV' "$W/crash" >/dev/null 2>&1
for columns in 60 80 120; do
	on_terminal $columns "$lw report --color=never $W/died"
	grep ' 0x[0-9a-f]* ' "$W/out" | grep -v 'died of' |
		awk -v most=$columns 'length($0) > most' >"$W/wide"
	[ ! -s "$W/wide" ] || fail "registers in $columns columns: $(cat "$W/wide")"
done

# The tool shows progress if standard error is a terminal and the work takes long.
for number in $(seq 70); do
	echo "16 1 complete 0x1000" |
		make_dump "5.$number" 2026-11-20T18:00:00Z /no/program 0x1000 none
done >"$W/long"
on_terminal 80 "$lw report --last -o $W/report $W/long"
shows "reading $W/long: 64 dumps"
left=$(tr '\r' '\n' <"$W/raw" | grep -a -A 1 reading | tail -n 1 | head -c 3)
equal "what is left of it" "$left" "$(printf '\033[K')"
status_is 0 "$lw" report --last -o "$W/report" "$W/long"
! grep -q reading "$W/err" || fail "progress in a file"
! "$lw" report -f pprof "$W/log" 2>/dev/null | grep -q 'not for a terminal' ||
	fail "a pipe is no terminal"
TERM=xterm script -qec "$lw report -f pprof $W/log" /dev/null </dev/null >"$W/out" 2>&1 &&
	fail "a profile on a terminal"
shows 'not for a terminal'

# A failed write is an error.
for command in "report $W/log" "report -f html $W/log" "diff $W/log $W/log" "audit $W/names"; do
	# shellcheck disable=SC2086 # words
	"$lw" $command >/dev/full 2>"$W/err"
	equal "$command, on a full device" $? 2
	said 'No space left on device'
	equal "messages" "$(wc -l <"$W/err")" 1
done
for command in --version --help help "cc --help" "report --help" "torture --usage"; do
	# shellcheck disable=SC2086 # words
	status_is 0 "$lw" $command
	# shellcheck disable=SC2086 # words
	"$lw" $command >/dev/full 2>"$W/err"
	equal "$command, on a full device" $? 2
	said '^leakwrap: standard output: '
	equal "messages" "$(wc -l <"$W/err")" 1
done
status_is 2 "$lw" report -o "$W" "$W/log"
said 'Is a directory'
status_is 2 "$lw" report -o "$W/none/report" "$W/log"
"$lw" report --all "$W/long" 2>"$W/err" | head -n 1 >"$W/out"
shows '^/no/program, process 5, dump 1 on signal'
! grep -v 'was not found' "$W/err" || fail "says something when the reader goes away"
