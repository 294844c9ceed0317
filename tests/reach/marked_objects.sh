#!/bin/sh
# An object with a vtable is reachable by a pointer with marks in its lowest bits.
. tests/lib.sh

build_cxx objects tests/reach/marked_objects.cpp
lost_blocks "$W/objects" 0 3
