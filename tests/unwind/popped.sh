#!/bin/sh
# A stack is complete also when a signal, whose handler has a stack of its own, interrupts the end of a function.
. tests/lib.sh

build popped tests/unwind/popped.c
"$W/popped" 2>"$W/log" || fail "status $?"
site=$(dump_sites "$W/log" 1 | grep ' on_trap;')
case $site in
'33 1 complete on_trap;'*';trap_at_end;main;'*';_start;') ;;
*) fail "$site" ;;
esac
