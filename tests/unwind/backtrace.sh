#!/bin/sh
# leakwrap_backtrace gives the same frames as the C library's backtrace.
. tests/lib.sh

for flags in "" -static -fomit-frame-pointer "-O0 -fomit-frame-pointer" -fcf-protection; do
	# shellcheck disable=SC2086 # a list of flags
	build backtrace tests/unwind/backtrace.c $flags
	LEAKWRAP_OPTIONS=exit=0 "$W/backtrace" >"$W/out" || fail "$flags: status $?"
	! grep wrong "$W/out" || fail "with '$flags'"
	grep -q '^[1-9][0-9]* checked' "$W/out" || fail "$flags: $(cat "$W/out")"
done
