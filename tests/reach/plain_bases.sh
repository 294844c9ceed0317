#!/bin/sh
# An object is reachable by a pointer to a base class without virtual functions, behind the address
# of its vtable.
. tests/lib.sh

flags="-O1 -g -fno-builtin -Wall -Wextra -Werror"
# shellcheck disable=SC2046,SC2086 # lists of flags
g++ $flags -I. -o "$W/bases" tests/reach/plain_bases.cpp -static-libstdc++ \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) ||
	fail "cannot build plain_bases.cpp"
lost_blocks "$W/bases" 1 2
