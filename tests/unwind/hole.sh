#!/bin/sh
# The search for a return address does not fault where a coroutine's stack was taken for the thread's own, and what was
# between them is gone.
. tests/lib.sh

build hole tests/unwind/hole.c
LEAKWRAP_OPTIONS=exit=0 "$W/hole" || fail "status $?"
