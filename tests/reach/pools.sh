#!/bin/sh
# Blocks that a program declares in its pools have kinds of their own, in small and large pools,
# with each C library. The free memory of a pool keeps nothing reachable.
. tests/lib.sh
# timeout: 300

# kinds_of FUNCTION: prints the kinds of its blocks in the dump.
kinds_of() {
	dump_lines "$W/log" 1 | awk -v f="$1" '
		/^site / {
			kinds = ""
			for (i = 1; i <= NF; i++)
				if ($i ~ /^(definite|possible|reachable)=/)
					kinds = kinds " " $i
		}
		/^ *#0 / {
			name = $3
			sub(/[.+].*/, "", name)
			if (name == f)
				print substr(kinds, 2)
		}'
}

# check WHAT: runs the program and checks its blocks.
check() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/$1" || fail "$1: status $?"
	equal "$1: part with a pointer" "$(kinds_of keep_part)" "reachable=144/3"
	equal "$1: block of that part" "$(kinds_of keep_through_part)" "reachable=72/3"
	equal "$1: part with an inner pointer" "$(kinds_of possible_part)" "possible=144/3"
	equal "$1: part without a pointer" "$(kinds_of lose_part)" "definite=144/3"
	equal "$1: block behind the parts" "$(kinds_of lose_behind_part)" "definite=72/3"
}

build dynamic tests/reach/pools.c
check dynamic
build static tests/reach/pools.c -static
check static

if command -v musl-gcc >/dev/null; then
	runtime x86_64-linux-musl CC=musl-gcc
	# shellcheck disable=SC2046 # a list of flags
	musl-gcc -O1 -g -Iwrap -o "$W/musl" tests/reach/pools.c -static \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) ||
		fail "musl: does not link"
	check musl
fi
