#!/bin/sh
# The search for a return address does not fault in unmapped memory between two stacks.
#
# The search takes a coroutine's stack for a part of the thread's stack.
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64-*) ;;
*) skip "the assembly is for x86-64" ;;
esac

build hole tests/unwind/unmapped_between_stacks.c
LEAKWRAP_OPTIONS=exit=0 "$W/hole" || fail "status $?"
