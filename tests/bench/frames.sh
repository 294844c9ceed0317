#!/bin/sh
# frames.sh - nanoseconds for a frame of a backtrace: frame pointers, tables, recognition, libunwind, libgcc.
#
# A part of the benchmark; called by tests/bench/run.
. tests/bench/lib.sh

once() {
	progress "frames"
	LEAKWRAP_OPTIONS=depth=256:exit=0 "$bench/frames" >"$bench/frames.out" || failed frames
	while read -r way depth nanoseconds frames; do
		record frames "$depth" "$way" ns "$nanoseconds"
		record frames "$depth" "$way" frames "$frames"
	done <"$bench/frames.out"
	rm -f "$bench/frames.out"
}

rounds once
