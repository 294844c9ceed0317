#!/bin/sh
# A stack is complete even if a signal with a handler stack of its own interrupts a function's end.
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64-*) ;;
*) skip "the assembly is for x86-64" ;;
esac

build popped tests/unwind/signal_at_function_end.c
"$W/popped" 2>"$W/log" || fail "status $?"
site=$(dump_sites "$W/log" 1 | grep ' on_trap;')
case $site in
'33 1 complete on_trap;'*';trap_at_end;main;'*';_start;') ;;
*) fail "$site" ;;
esac
