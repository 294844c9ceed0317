#!/bin/sh
# musl takes 32 functions of the program for quick_exit, as without the tracer, and the exit dump
# comes behind them.
. tests/lib.sh

command -v musl-gcc >/dev/null || skip "musl-gcc is not installed"
runtime x86_64-linux-musl CC=musl-gcc
source=tests/targets/musl_quick_exit.c
flags=$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime)
for static in '' -static; do
	# shellcheck disable=SC2086 # lists
	musl-gcc $static -fno-builtin -o "$W/plain" $source || fail "cannot build"
	# shellcheck disable=SC2086
	musl-gcc $static -fno-builtin -o "$W/traced" $source $flags || fail "cannot link"
	for how in '' again none; do
		"$W/plain" $how >"$W/expected"
		equal "untraced $how$static: status" $? 7
		"$W/traced" $how >"$W/out" 2>"$W/log"
		equal "$how$static: status" $? 7
		equal "$how$static: output" "$(cat "$W/out")" "$(cat "$W/expected")"
		equal "$how$static: dumps" "$(grep -c 'reason=exit' "$W/log")" 1
		case $how in
		'') live=2000 ;;
		again) live=1000 ;;
		none) live=3000 ;;
		esac
		equal "$how$static: live" "$(site_by "$W/log" 1 main)" "$live $((live / 1000))"
	done
done
