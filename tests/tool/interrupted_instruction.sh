#!/bin/sh
# Behind a signal handler's frames, a report shows the interrupted instruction's function and line.
#
# They are right even if the instruction is the first of its function, and in a stripped program.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

source=tests/tool/interrupted_instruction.c
line_of() {
	grep -n "/\* $1 \*/" $source | cut -d : -f 1
}
for static in "" -static; do
	# Without a frame pointer the function begins with the fault.
	CFLAGS_FOR_TESTS="-std=gnu11 -O2 -g -Wall -Wextra -Werror -fomit-frame-pointer"
	CFLAGS_FOR_TESTS="$CFLAGS_FOR_TESTS -fno-optimize-sibling-calls \
		-Wl,--build-id"
	build handler $source $static
	strip -o "$W/stripped" "$W/handler"
	for program in handler stripped; do
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log="$W/log" "$W/$program" || fail "$program"
		status_is 0 "$lw" report --exe="$W/handler" -f json "$W/log"
		frame='.*"function":\("[a-z_]*"\|null\).*"line":\([0-9]*\|null\),.*'
		tr '{' '\n' <"$W/out" | sed -n "s/$frame/\\1 \\2/p" >"$W/frames"
		grep -A 3 '"handler"' "$W/frames" | tail -n 2 >"$W/got"
		printf '"faults" %s\n"main" %s\n' "$(line_of 'the fault')" "$(line_of 'the call')" \
			>"$W/wanted"
		diff "$W/wanted" "$W/got" || fail "$program $static"
		equal "exact frames" "$(grep -c ' exact=1$' "$W/log")" 2
	done
done
grep -q ' faults+0x0 .* exact=1$' "$W/log" && fail "a stripped program knows the name"
status_is 0 "$lw" report -f pprof -o "$W/profile" --exe="$W/handler" "$W/log"
