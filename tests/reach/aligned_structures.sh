#!/bin/sh
# A block is reachable by a pointer to a structure at the first multiple of 64 in it that has the
# block's address far behind.
. tests/lib.sh

build structures tests/reach/aligned_structures.c
lost_blocks "$W/structures" 0 4
