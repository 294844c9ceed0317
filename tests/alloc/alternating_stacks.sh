#!/bin/sh
# Stacks of different forms that come from one place in turn are recognized, and recorded without a lock.
. tests/lib.sh

build forms tests/alloc/alternating_stacks.c -Wl,--wrap=leakwrap_live_add
LEAKWRAP_OPTIONS=exit=0 "$W/forms" >"$W/out" || fail "forms: status $?"
read -r slow _ blocks <"$W/out"
echo "$slow of $blocks blocks went the slow way"
[ "$slow" -ge 1 ] || fail "nothing counts what goes the slow way"
[ "$slow" -lt $((blocks / 20)) ] || fail "$slow of $blocks blocks went the slow way"
