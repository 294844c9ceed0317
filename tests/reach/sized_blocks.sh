#!/bin/sh
# A block of Tcl, BIND, MariaDB or MySQL, a slab of small blocks of Tcl, and an array or string of
# Free Pascal, is reachable by a pointer behind its size.
. tests/lib.sh
[ "$(getconf LONG_BIT)" = 64 ] || skip "Free Pascal keeps other sizes here"

build blocks tests/reach/sized_blocks.c
lost_blocks "$W/blocks" 12 17
