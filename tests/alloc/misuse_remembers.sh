#!/bin/sh
# A double free is reported with the stacks of the allocation and of the first release, although
# hundreds of thousands of call sites have been collected since.
. tests/lib.sh

build remembers tests/alloc/misuse_remembers.c -static -fno-builtin -fno-optimize-sibling-calls \
	-Wno-use-after-free
LEAKWRAP_OPTIONS=misuse=report:exit=0 "$W/remembers" >"$W/out" 2>"$W/log"
functions=$(sed -n 's/.* 0x[0-9a-f]* \([a-z_]*\)+.*/\1/p' "$W/log" | grep 'session\|again' |
	tr '\n' ' ')
equal "the functions of the report" "$functions" "close_again close_session open_session "
