#!/bin/sh
# leakwrap torture finds each bug on an error path once, with the stack of the bug and of the failed
# call site, and nothing in a program that handles all failures.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need jq

# The library is in an archive of its own.
$CC -O2 -g -c -o "$W/library.o" tests/tool/torture_library.c || fail "cannot build the library"
ar rcs "$W/library.a" "$W/library.o"
build bugs tests/tool/torture.c "$W/library.a"
build bugs-static -static tests/tool/torture.c "$W/library.a"

# follows FIRST SECOND: a line with SECOND comes at most 12 lines behind a line with FIRST.
follows() {
	grep -A 12 -e "$1" "$W/out" | grep -q -e "$2" ||
		fail "no '$2' behind '$1': $(cat "$W/out")"
}

for program in bugs bugs-static; do for engine in fork rerun; do
	# A program without bugs.
	status_is 0 "$lw" torture --engine=$engine -- "$W/$program"
	shows "^  9 failures tried: .*\\<9 by $engine\\>"
	shows '^ *9 ended with another status$'
	shows '^  0 findings$'

	status_is 0 "$lw" torture --engine=$engine --jobs=1 -- "$W/$program"
	shows '^  9 failures tried: '

	# All bugs at once: each is found once.
	status_is 1 "$lw" torture --engine=$engine --timeout=1 -- "$W/$program" \
		leak,twice,null,retry,library
	shows '^  5 findings$'
	equal "leaks" "$(grep -c '^  #[0-9] leak of' "$W/out")" 2
	follows '^  #[0-9] leak of 40 bytes in 1 block$' 'leak_on_error .*torture.c:'
	follows 'after a failed allocation of up to 50 bytes' 'leak_on_error .*torture.c:'
	follows '^  #[0-9] leak of 100 bytes in 1 block$' 'library_open .*torture_library.c:'
	follows 'after a failed allocation of up to 200 bytes' 'library_open .*torture_library.c:'
	equal "crashes" "$(grep -c '^  #[0-9] crash, SIGSEGV' "$W/out")" 1
	follows '^  #[0-9] crash, SIGSEGV' 'write_to_null .*torture.c:'
	equal "hangs" "$(grep -c '^  #[0-9] hang$' "$W/out")" 1
	# The compiler has put has_bug into retry.
	[ $engine = fork ] || follows '^  #[0-9] hang$' 'retry .*torture.c:'
	follows 'after a failed allocation of up to 70 bytes (did not end in time)' \
		'retry .*torture.c:'
done done
# What is certain misuse in a static program, the C library finds in a dynamic program.
equal "misuse" "$(grep -c '^  #[0-9] misuse of the heap, double free of' "$W/out")" 1
follows '^  #[0-9] misuse of the heap' 'free_twice .*torture.c:'
status_is 1 "$lw" torture -- "$W/bugs" twice
shows '^  1 finding$'
follows '^  #1 misuse of the heap, double free' 'free_twice .*torture.c:'
follows 'after a failed allocation of up to 6,000 bytes (aborted)' 'free_twice .*torture.c:'

# A leak is found, too, if the program leaves at once, and has not allocated since.
for program in bugs bugs-static; do
	status_is 1 "$lw" torture -- "$W/$program" leak,leave
	shows '^  1 finding$'
	follows '^  #1 leak of 40 bytes in 1 block$' 'leak_on_error .*torture.c:'
done

# A block to which a variable leads is no leak, unless nobody tells it from lost blocks.
for program in bugs bugs-static; do
	status_is 0 "$lw" torture -- "$W/$program" keep
	shows '^  0 findings$'
done
status_is 1 env LEAKWRAP_OPTIONS=kinds=never "$lw" torture -- "$W/bugs" keep
shows '^  1 finding$'

# A death by a signal that is no fault has no stack. A suppression names the failed call site.
status_is 1 "$lw" torture --state="$W/killed" -- "$W/bugs" killed
follows '^  #1 death of a signal 15$' '^      (no stack)$'
follows '(died of another signal)$' 'write_to_null .*torture.c:'
echo 'killed:write_to_null' >"$W/suppressions"
status_is 0 "$lw" torture --state="$W/killed" --format=json --suppressions="$W/suppressions" -- \
	"$W/bugs" killed
jq -e '(.findings | length) == 1 and (.findings[0] | .kind == "killed" and .suppressed) and
	(.attempts[.findings[0].attempts[0]] | .signal == 15 and .exit_status == null)' "$W/out" \
	>/dev/null || fail "JSON: $(cat "$W/out")"

# JSON.
status_is 1 "$lw" torture --engine=rerun --format=json -- "$W/bugs" null,leak,twice
for line in '"format": "leakwrap-torture"' '"crash": 1' '"error_exit": 7' '"kind": "crash"' \
	'"kind": "leak"' '"function": "write_to_null"' '"outcome": "crash"' '"exit_status": 3' \
	'"engine": "rerun"' '"misuse": "double_free"'; do
	grep -q -e "$line" "$W/out" || fail "JSON without $line: $(cat "$W/out")"
done
equal "findings in JSON" "$(grep -c '"kind"' "$W/out")" 3
jq -e 'all(.attempts[]; (.exit_status == null) != (.signal == null))' "$W/out" >/dev/null ||
	fail "an attempt ended twice, or never: $(cat "$W/out")"
equal "how the attempts of the findings ended" "$(jq -r '. as $all | .findings[] | "\(.kind) " +
	([.attempts[] | $all.attempts[.] | .outcome] | join(" "))' "$W/out" | sort)" \
	'crash crash
leak error_exit
misuse abort'

# HTML.
status_is 1 "$lw" torture --format=html -- "$W/bugs" null '<b>'
for part in '^<!DOCTYPE html>$' '<p>1 finding\.' '<h2>1. crash</h2>' '^<pre>write_to_null  ' \
	' null &#60;b&#62; ' '^<details open>' '</html>$'; do
	shows "$part"
done
shows_not 'libc_start\|_start '
echo 'leak:leak_on_error' >"$W/suppressions"
status_is 1 "$lw" torture --format=html --suppressions="$W/suppressions" -- "$W/bugs" leak,library
shows '<p>1 finding\.'
shows '<h2>1. leak of 100 bytes in 1 block</h2>'
shows_not 'leak of 40 bytes'
status_is 2 "$lw" torture --format=pprof -- "$W/bugs"
said 'text, json or html'

# What is tried.
status_is 0 "$lw" torture --below=library_* -- "$W/bugs" null
shows '^  3 failures tried: '
shows '^  6 call sites left out$'
status_is 0 "$lw" torture --size=40-70 -- "$W/bugs" null
shows '^  4 failures tried'
status_is 1 "$lw" torture --sticky --below=torture_library.c -- "$W/bugs" library
shows '^  1 finding$'
status_is 0 "$lw" torture --hits=2,last --limit=2 -- "$W/bugs" null
shows '^  2 failures tried'

# 0 is the default of both; a time has a unit, and no exponent.
status_is 0 "$lw" torture --limit=0 --timeout=0 --size=40-70 -- "$W/bugs" null
shows '^  4 failures tried: .*; [0-9.]* [um]*s$'
status_is 2 "$lw" torture --below=no_such_function -- "$W/bugs" null
said "no call site of $W/bugs has a frame that --below= names"

# Where the report cannot go, nothing is tried.
cp "$W/bugs" "$W/bugs.kept"
for output in "$W/no/folder" "$W" "$W/bugs"; do
	status_is 2 "$lw" torture --state="$W/untried" -o "$output" -- "$W/bugs" null
	said "^leakwrap: $output"
	[ ! -e "$W/untried" ] || fail "-o $output: the program ran"
done
cmp -s "$W/bugs" "$W/bugs.kept" || fail "-o destroyed the program"

# A call site is reached once: its first allocation is its last, and there is no second.
status_is 0 "$lw" torture --hits=0x1,1,2,last -- "$W/bugs"
shows '^  9 failures tried'
for wrong in hits=0 hits=1,,2 hits=,1 jobs=0 jobs=4294967297 timeout=18446744074 timeout=-1 \
	size= size=- size=1-2-3 size=20-10; do
	status_is 2 "$lw" torture --$wrong -- "$W/bugs"
	said "^leakwrap torture: --$wrong: "
done
said 'MIN is above MAX$'
status_is 2 "$lw" torture --size=987654321- -- "$W/bugs"
said "no allocation of $W/bugs has such a size (--size)"

# The settings file is an option of the tool, and not of the program.
echo 'limit=2' >"$W/settings"
for option in "--config=$W/settings" "--engine rerun --config $W/settings" \
	"-j 1 --conf=$W/settings --"; do
	# shellcheck disable=SC2086 # words
	status_is 0 "$lw" torture $option "$W/bugs" null --config=none
	shows '^  2 failures tried'
done
status_is 0 "$lw" torture --limit=1 "$W/bugs" null --config=none

# Suppressions, and leaks that an error exit leaves.
printf 'crash:write_to_null\nleak:nowhere\nleak:library_open\nleak:library_*\n' >"$W/suppressions"
status_is 0 "$lw" torture --suppressions="$W/suppressions" -- "$W/bugs" null,library
shows '^  0 findings, 2 suppressed$'
shows_not 'crash, SIGSEGV'
equal "suppressions without use" "$(grep -o 'leak:.*' "$W/err")" 'leak:nowhere suppresses nothing'
printf 'hang:write_to_null\nleak:library_open\nleak:library_*\n' >"$W/suppressions"
status_is 1 "$lw" torture --suppressions="$W/suppressions" -- "$W/bugs" null,library
shows '^  1 finding, 1 suppressed$'
status_is 0 "$lw" torture --leaks=handled -- "$W/bugs" library

# A torture that goes on: nothing is tried twice, and what was found before is told again.
status_is 1 "$lw" torture --limit=5 --state="$W/state" -- "$W/bugs" leak,library
shows '^  1 finding$'
status_is 1 "$lw" torture --state="$W/state" -- "$W/bugs" leak,library
shows '^  9 failures tried: .*, 5 of these before; '
shows '^  2 findings$'
status_is 2 "$lw" torture --state="$W/state" -- "$W/bugs" leak
said 'belongs to another torture: .* leak,library$'

# The words of a program are told apart.
line='two
lines'
set -- 'a b' '' "it's" 'c\n' "$line"
status_is 0 "$lw" torture --state="$W/words" -- "$W/bugs" "$@"
status_is 0 "$lw" torture --state="$W/words" -- "$W/bugs" "$@"
shows '^  9 failures tried: 9 by fork, 0 by rerun, 9 of these before; '
shows '^ *9 ended with another status$'
for option in --sticky --size=1-99; do
	status_is 2 "$lw" torture $option --state="$W/words" -- "$W/bugs" "$@"
	said 'belongs to another torture: '
done
status_is 2 "$lw" torture --state="$W/words" -- "$W/bugs" a b '' "it's" 'c\n' "$line"
said "belongs to another torture: .* a.* b '' it.*'s c.*n two.*nlines\$"

# The first line of a torture that was killed is another's, too.
printf 'leakwrap torture -- /other' >"$W/words/torture"
status_is 2 "$lw" torture --state="$W/words" -- "$W/bugs" "$@"
said 'belongs to another torture: .* -- /other$'

# The state's folder is a part of an option, and a folder for the time of a torture has a place.
status_is 2 "$lw" torture --state="$W/a,b" -- "$W/bugs"
said 'must not contain'
status_is 2 env TMPDIR="$W/none" "$lw" torture -- "$W/bugs"
said "^leakwrap: $W/none/"

# A torture was killed while it wrote a line: the next line is not joined to it.
state=$W/state/torture
for lost in 3 $(($(wc -c <"$state") - 9)); do # bytes: of the last line, and all but 9
	cp "$state" "$W/whole"
	head -c -"$lost" "$W/whole" >"$state"
	status_is 1 "$lw" torture --jobs=1 --state="$W/state" -- "$W/bugs" leak,library
	shows '^  2 findings$'
	equal "lines" "$(wc -l <"$state")" "$(wc -l <"$W/whole")"
	status_is 1 "$lw" torture --state="$W/state" -- "$W/bugs" leak,library
	shows '^  9 failures tried: .*, 9 of these before; '
	shows '^  2 findings$'
done

# A user interrupts a torture: nothing stays behind, and it goes on from there.
"$lw" torture --engine=rerun --jobs=1 --timeout=60 --state="$W/stopped" -- "$W/bugs" retry \
	>"$W/out" 2>"$W/err" &
tool=$!
wait_until "$patience" grep -q . "$W/stopped/torture" || fail "no attempt"
# The hang is the last but some: wait until its run is under way.
wait_until "$patience" pgrep -f "^$W/bugs retry" >/dev/null || fail "no run"
kill -TERM $tool
wait $tool
equal "status of an interrupted torture" $? 2
said 'interrupted: go on with --state='
! pgrep -f "^$W/bugs retry" || fail "a run is left behind"
for turn in first second; do
	status_is 1 "$lw" torture --timeout=1 --state="$W/stopped" -- "$W/bugs" retry
	shows '^  9 failures tried: '
	shows '^  1 finding$'
	follows '^  #1 hang$' '(did not end in time)$'
	[ $turn = first ] || shows ', 9 of these before; '
done

# Where the tool is killed, the program and its children die with it.
is_stuck() {
	before=$(pgrep -f "^$W/bugs retry") && sleep 0.1 &&
		[ "$(pgrep -f "^$W/bugs retry")" = "$before" ] &&
		[ "$(echo "$before" | wc -l)" = "$1" ]
}
none_is_left() {
	! pgrep -f "^$W/bugs retry" >"$W/left"
}
for engine in fork rerun; do
	[ $engine = fork ] && runs=2 || runs=1
	"$lw" torture --engine=$engine --jobs=1 --timeout=60 -- "$W/bugs" retry \
		>"$W/out" 2>"$W/err" &
	tool=$!
	wait_until "$patience" is_stuck "$runs" || fail "$engine: no run that hangs"
	kill -KILL $tool
	wait $tool 2>"$W/err"
	wait_until "$patience" none_is_left || fail "$engine: a run outlives the tool"
	rm -r "$W"/leakwrap-torture.*
done

# A program may not come to a call site again. It is not tried again.
cat >"$W/once.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int status = argc > 2 ? 3 : 0;
	if (remove(argv[argc - 1]) == 0) {
		void *block = malloc(77);
		status = block == NULL;
		free(block);
	}
	free(malloc(7));
	return status;
}
END
build once "$W/once.c"
echo >"$W/mark"
status_is 0 "$lw" torture --engine=rerun --size=77 --state="$W/once_state" -- "$W/once" "$W/mark"
shows '^ *1 did not come to the call site$'
echo >"$W/mark"
status_is 0 "$lw" torture --engine=rerun --size=77 --state="$W/once_state" -- "$W/once" "$W/mark"
shows '^  1 failure tried: .*, 1 of these before; '
shows '^ *1 did not come to the call site$'

# It goes on if it ends with the status that it has without failures, whatever that is.
status_is 0 "$lw" torture -- "$W/once" usual-status "$W/none"
shows '^ *1 went on$'

# A report names failures, too.
LEAKWRAP_OPTIONS=log=$W/log:fail=nth=1,below=leak_on_error "$W/bugs" >"$W/out" 2>"$W/err"
status_is 0 "$lw" report "$W/log"
shows '^  1 allocation made to fail on purpose$'
shows '^  of 40 bytes:$'
status_is 0 "$lw" report --format=json "$W/log"
shows '"injected":{"failures":1,"call_sites":\[{"identity":"0x[0-9a-f]*","hit":1,"bytes":40,'
${HOSTCC:-cc} -std=gnu11 -O1 -Wall -Wextra -o "$W/validate" tests/tool/validate.c -ljansson ||
	fail "the validator does not build"
"$W/validate" tests/tool/report.schema.json "$W/out" || fail "the JSON does not fit its schema"

# What a shared library has allocated is lost as well. What it keeps is no leak.
cat >"$W/held.c" <<'END'
#include <stdlib.h>
void *held_keeps;
void *held_makes(size_t size) { return malloc(size); }
END
cat >"$W/holder.c" <<'END'
#include <stdlib.h>
extern void *held_keeps;
void *held_makes(size_t size);
__attribute__((noinline)) static int work(void)
{
	void *volatile lost = held_makes(100);
	void *volatile next = malloc(50);
	if (!next) {
		held_keeps = held_makes(70);
		return 1;
	}
	free(lost);
	free(next);
	return 0;
}
int main(void) { return work(); }
END
$CC -g -shared -fPIC -o "$W/libheld.so" "$W/held.c" || fail "no library"
build holder "$W/holder.c" -L"$W" -lheld -Wl,-rpath,"$W"
status_is 1 "$lw" torture -- "$W/holder"
follows '^  #1 leak of 100 bytes in 1 block$' 'held_makes .*held.c:'
shows '^  1 finding$'

# Programs that cannot be tortured.
build_plain untraced tests/tool/torture.c "$W/library.a"
status_is 2 "$lw" torture -- "$W/untraced"
said 'it is not linked with leakwrap'
status_is 2 "$lw" torture -- "$W/nothing"
said 'cannot be started: No such file'
status_is 2 "$lw" torture --timeout=1 -- sleep 60
said 'did not end within 1 s without a failure'
status_is 2 "$lw" torture -- sh -c 'kill -KILL $$'
said 'sh died of signal 9 without a failure'
status_is 2 "$lw" torture
said 'no program'

equal "folders left behind" "$(find "$W" -name 'leakwrap-torture*')" ''
