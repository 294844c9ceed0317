#!/bin/sh
# Words of a frame that nothing describes: what lies between a program's executable segments is not read.
. tests/lib.sh

build words -fomit-frame-pointer -no-pie -Wl,--section-start=.far=0x10000000 tests/unwind/words.c
[ "$(readelf -lW "$W/words" | grep -c 'LOAD.* R E ')" = 2 ] || fail "not two executable segments"
"$W/words" 2>"$W/log" || fail "status $?"
site=$(dump_sites "$W/log" 1 | grep ' allocate;')
case $site in
'11 1 guessed allocate;call_allocate;main;'*';_start;') ;;
*) fail "$site" ;;
esac
