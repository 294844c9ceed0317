#!/bin/sh
# Code behind _start is not taken for it: stacks go on from there to the first frame.
. tests/lib.sh

build late tests/unwind/late.c
"$W/late" 2>"$W/log" || fail "status $?"
site=$(dump_sites "$W/log" 1 | grep ' allocate;')
case $site in
'77 1 complete allocate;'*';_start;') ;;
*) fail "$site" ;;
esac
