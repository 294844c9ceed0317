#!/bin/sh
# A pool in the oldest of its own blocks holds them all, whichever of them is the newest.
. tests/lib.sh

build pools tests/reach/pool_in_own_block.c
lost_blocks "$W/pools" 1 5
