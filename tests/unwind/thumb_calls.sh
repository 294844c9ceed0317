#!/bin/sh
# A call in Thumb code whose bytes look like a call in ARM code is walked as Thumb code.
# timeout: 400
. tests/lib.sh

triple=arm-linux-gnueabihf
command -v $triple-gcc >/dev/null || skip "$triple-gcc is not installed"
command -v qemu-arm >/dev/null || skip "qemu-arm is not installed"

runtime $triple CROSS_COMPILE=$triple-
# shellcheck disable=SC2046 # lists of flags
$triple-gcc -std=gnu11 -O1 -mthumb -Wall -Wextra -static -o "$W/calls" \
	tests/unwind/thumb_calls.c $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
	of_runtime) -pthread || fail "cannot link"
LEAKWRAP_OPTIONS=log=$W/log qemu-arm "$W/calls" || fail "status $?"
dump_sites "$W/log" 1 | grep '^101 ' >"$W/sites"
grep -q '^101 1 complete inner;outer;main;' "$W/sites" || fail "$(cat "$W/sites")"
