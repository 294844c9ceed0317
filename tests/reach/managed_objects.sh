#!/bin/sh
# An object behind the address of its memory manager is reachable by a pointer to it or to a part of
# it.
. tests/lib.sh

build_cxx objects tests/reach/managed_objects.cpp
lost_blocks "$W/objects" 6 5
