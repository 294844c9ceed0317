#!/bin/sh
# An array of stb_ds.h, a word of Snowball, a list of IDs of LMDB and a repeated field of Protocol
# Buffers are reachable by a pointer to their elements.
. tests/lib.sh

build arrays tests/reach/grown_arrays.c
lost_blocks "$W/arrays" 16 14
LEAKWRAP_OPTIONS=kinds=always:exit=0:pointer_step=1:log=$W/steps "$W/arrays" || fail "status $?"
equal "possibly lost, with pointer_step=1" "$(dump_value "$W/steps" 1 possible_blocks)" 15
