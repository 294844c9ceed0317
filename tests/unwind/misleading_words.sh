#!/bin/sh
# Misleading words in a frame that nothing describes do no harm.
#
# The tracer does not read between a program's executable segments. A word that was left on the
# stack does not make the stack complete.
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64-*) ;;
*) skip "the assembly is for x86-64" ;;
esac

build words -fomit-frame-pointer -no-pie -Wl,--section-start=.far=0x10000000 \
	tests/unwind/misleading_words.c
[ "$(readelf -lW "$W/words" | grep -c 'LOAD.* R E ')" = 2 ] || fail "not two executable segments"
"$W/words" 2>"$W/log" || fail "status $?"
dump_sites "$W/log" 1 | grep ' allocate;' >"$W/sites"
grep -q '^11 1 guessed allocate;call_allocate;main;.*;_start;$' "$W/sites" ||
	fail "the hole: $(cat "$W/sites")"
"$W/words" own 2>"$W/log" || fail "status $?"
dump_sites "$W/log" 1 | grep ' allocate;' >"$W/sites"
grep -q '^11 1 guessed allocate;call_allocate;main;.*;_start;$' "$W/sites" ||
	fail "the tracer's own code: $(cat "$W/sites")"
"$W/words" loader 2>"$W/log" || fail "status $?"
dump_sites "$W/log" 1 | grep ' allocate;' >"$W/sites"
grep -q '^11 1 guessed allocate;call_allocate;main;.*;_start;$' "$W/sites" ||
	fail "the loader's code: $(cat "$W/sites")"
"$W/words" behind 2>"$W/log" || fail "status $?"
dump_sites "$W/log" 1 | grep ' allocate;' >"$W/sites"
grep -q '^11 1 guessed allocate;call_allocate;stale;$' "$W/sites" ||
	fail "the tracer's own code behind a guess: $(cat "$W/sites")"
"$W/words" stale 2>"$W/log" || fail "status $?"
dump_sites "$W/log" 1 | grep ' allocate;' >"$W/sites"
grep -q '^11 1 guessed allocate;call_allocate;_start;$' "$W/sites" ||
	fail "the first frame: $(cat "$W/sites")"
