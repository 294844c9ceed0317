#!/bin/sh
# A size that overflows in the C++ library does not count, and no dump hangs over it.
# timeout: 60
. tests/lib.sh

compiler=$(cxx_of "$CC")
build_cxx() {
	# shellcheck disable=SC2046,SC2086 # lists of flags
	"$compiler" -std=gnu++17 -O1 -g -Wall -Wextra -Werror -fno-builtin -o "$W/$1" \
		tests/alloc/overflowing_new.cpp $2 || fail "cannot build $1"
}

build_cxx plain ""
build_cxx traced "$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS)"
"$W/plain" >"$W/plain.out" || fail "plain: status $?"
LEAKWRAP_OPTIONS=log=$W/log "$W/traced" >"$W/traced.out" || fail "traced: status $?"
cmp "$W/plain.out" "$W/traced.out" || fail "the program sees something else"
bytes=$(dump_value "$W/log" 1 live_bytes)
[ "${#bytes}" -le 7 ] || fail "live bytes: $bytes"
