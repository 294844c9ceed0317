#!/bin/sh
# An array of stb_ds.h, a word of Snowball and a repeated field of Protocol Buffers are reachable by
# a pointer to their elements.
. tests/lib.sh

build arrays tests/reach/grown_arrays.c
lost_blocks "$W/arrays" 12 10
