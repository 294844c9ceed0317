#!/bin/sh
# Lost and reachable blocks are those that valgrind finds, of each kind, in its own tests' shapes.
. tests/lib.sh

command -v valgrind >/dev/null || skip "valgrind is not installed"

# by_valgrind PROGRAM...: prints "DEFINITE INDIRECT POSSIBLE REACHABLE", each as BYTES/BLOCKS.
by_valgrind() {
	valgrind --leak-check=full --show-leak-kinds=all --leak-check-heuristics=all "$@" 2>&1 |
		awk '/(definitely|indirectly|possibly) lost: |still reachable: |All heap blocks/ {
			gsub(",", ""); sum = sum " " $4 "/" $7 } END { print substr(sum, 2) }'
}

# by_leakwrap PROGRAM...: prints the same from the exit dump.
by_leakwrap() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="log=$W/log" "$@" || fail "$* ends with status $?"
	for kind in definite indirect possible reachable; do
		dump_value "$W/log" 1 ${kind}_bytes
		echo "/$(dump_value "$W/log" 1 ${kind}_blocks) "
	done | tr -d '\n' | sed 's/ $//'
}

# The three lost kinds: the C library of a static program holds blocks of its own.
lost() {
	echo "$1" | cut -d ' ' -f 1-3
}

build_plain plain tests/reach/shapes.c
build dynamic tests/reach/shapes.c
build static tests/reach/shapes.c -static
for shape in cases trees cycles delta lengths many; do
	wanted=$(by_valgrind "$W/plain" $shape)
	equal "$shape, dynamic" "$(by_leakwrap "$W/dynamic" $shape)" "$wanted"
	equal "$shape, static" "$(lost "$(by_leakwrap "$W/static" $shape)")" "$(lost "$wanted")"
done
# Not compared with valgrind: it takes a stale word for a pointer into a node. Not in a static
# program: its heap lies at low addresses, and some integer may lead into a heap of this size.
equal "wides" "$(lost "$(by_leakwrap "$W/dynamic" wides)" | sed 's/[0-9]*\///g')" "3 400199 0"

# The C++ library of a dynamic program allocates unseen; a static one keeps a block of its own.
flags="-O1 -g -fno-builtin -Wall -Wextra -Werror"
# shellcheck disable=SC2046,SC2086 # lists of flags
{
	g++ $flags -o "$W/plain" tests/reach/objects.cpp &&
		g++ $flags -o "$W/dynamic" tests/reach/objects.cpp -static-libstdc++ \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS)
} || fail "cannot build objects.cpp"
equal "objects" "$(lost "$(by_leakwrap "$W/dynamic")")" "$(lost "$(by_valgrind "$W/plain")")"
