#!/bin/sh
# An object behind the address of its memory manager is reachable by a pointer to it or to a part of
# it.
. tests/lib.sh

flags="-O1 -g -fno-builtin -Wall -Wextra -Werror"
# shellcheck disable=SC2046,SC2086 # lists of flags
g++ $flags -std=c++17 -I. -o "$W/objects" tests/reach/managed_objects.cpp -static-libstdc++ \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) ||
	fail "cannot build managed_objects.cpp"
lost_blocks "$W/objects" 6 5
