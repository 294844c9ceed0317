#!/bin/sh
# Code right behind _start is not taken for _start: stacks go on to the first frame.
. tests/lib.sh

build late tests/unwind/code_behind_start.c
"$W/late" 2>"$W/log" || fail "status $?"
site=$(dump_sites "$W/log" 1 | grep ' allocate;')
case $site in
'77 1 complete allocate;'*';_start;') ;;
*) fail "$site" ;;
esac
