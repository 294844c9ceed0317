#!/bin/sh
# leakwrap_fail_next makes each function that allocates fail as its manual page says, operator new
# included; a dump counts these failures apart.
. tests/lib.sh

# shellcheck disable=SC2046,SC2086 # lists of flags
build_new() {
	$(cxx_of "$CC") -std=gnu++17 -O2 -g -Wall -Wextra -Werror -pthread -Iwrap $1 \
		-o "$W/failing_new$1" tests/alloc/fail_next_new.cpp \
		$(leakwrap_flags LEAKWRAP_LDFLAGS "$2") ||
		fail "cannot build the C++ program"
}
build_new '' LEAKWRAP_CXX_STATIC_LDLIBS
build_new -static LEAKWRAP_CXX_LDLIBS

for static in '' -static; do
	# The static linker warns of tempnam.
	build "failing$static" $static tests/alloc/fail_next.c 2>"$W/warnings"
	LEAKWRAP_OPTIONS=system=0 "$W/failing$static" >"$W/out" 2>"$W/log" ||
		fail "$static: $(cat "$W/out")"
	[ "$(dump_value "$W/log" 1 failures)" -gt 25 ] || fail "$static: $(cat "$W/log")"
	equal "live blocks$static" "$(dump_value "$W/log" 1 live_blocks)" 0

	timeout 60 "$W/failing_new$static" 2>"$W/log" || fail "operator new$static: status $?"
	equal "failures$static" "$(dump_value "$W/log" 1 failures)" 20
done
