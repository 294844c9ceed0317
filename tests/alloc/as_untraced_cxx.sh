# shellcheck shell=sh
# as_untraced_cxx.sh - compares a C++ program with itself, untraced.
#
# Sourced after tests/lib.sh.

# as_untraced SOURCE: builds SOURCE with the tracer and without. Both programs must end with 0 and
# print the same. The dump is in $W/log.
as_untraced() {
	for kind in plain traced; do
		flags=
		[ $kind = plain ] || flags=$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS)
		# shellcheck disable=SC2046,SC2086 # a compiler, and a list of flags
		$(cxx_of "$CC") -std=gnu++17 -O1 -g -Wall -Wextra -Werror -fno-builtin \
			-o "$W/$kind" "$1" $flags || fail "cannot build $kind"
		LEAKWRAP_OPTIONS=log=$W/log "$W/$kind" >"$W/$kind.out" || fail "$kind: status $?"
	done
	cmp "$W/plain.out" "$W/traced.out" || fail "the program sees something else"
}
