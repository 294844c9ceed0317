#!/bin/sh
# Stacks of different shapes that alternate at one place are recognized, and recorded without a
# lock.
. tests/lib.sh

build forms tests/alloc/alternating_stacks.c -Wl,--wrap=leakwrap_live_add
LEAKWRAP_OPTIONS=exit=0 "$W/forms" >"$W/out" || fail "forms: status $?"
read -r slow _ blocks <"$W/out"
echo "$slow of $blocks blocks took the slow path"
[ "$slow" -ge 1 ] || fail "the test does not count the slow path"
[ "$slow" -lt $((blocks / 20)) ] || fail "$slow of $blocks blocks took the slow path"
