#!/bin/sh
# A name that cannot be demangled is refused as it is untraced, whatever its buffer's length is.
. tests/lib.sh

compiler=$(cxx_of "$CC")
build_cxx() {
	# shellcheck disable=SC2046,SC2086 # lists of flags
	"$compiler" -O1 -g -Wall -Wextra -Werror -fno-builtin -o "$W/$1" \
		tests/alloc/demangle_nothing.cpp $2 || fail "cannot build $1"
}

build_cxx plain ""
build_cxx traced "$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS)"
"$W/plain" >"$W/plain.out" || fail "plain: status $?"
LEAKWRAP_OPTIONS=log=$W/log "$W/traced" >"$W/traced.out" || fail "traced: status $?"
cmp "$W/plain.out" "$W/traced.out" || fail "the program sees something else"
equal "live blocks of main" "$(site_by "$W/log" 1 main)" "0 0"
equal "freed elsewhere" "$(dump_value "$W/log" 1 freed_elsewhere_blocks)" 0
