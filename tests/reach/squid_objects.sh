#!/bin/sh
# An object of Squid is reachable by a pointer behind the address of its block with inverted bits,
# and by a pointer to a part of it.
. tests/lib.sh

build_cxx objects tests/reach/squid_objects.cpp
lost_blocks "$W/objects" 0 2
