#!/bin/sh
# An object of Squid is reachable by a pointer behind the address of its block with inverted bits,
# and by a pointer to a part of it.
. tests/lib.sh

flags="-O1 -g -fno-builtin -Wall -Wextra -Werror"
# shellcheck disable=SC2046,SC2086 # lists of flags
g++ $flags -I. -o "$W/objects" tests/reach/squid_objects.cpp -static-libstdc++ \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) ||
	fail "cannot build squid_objects.cpp"
lost_blocks "$W/objects" 0 2
