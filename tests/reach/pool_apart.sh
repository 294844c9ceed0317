#!/bin/sh
# A pool that is a block for itself, and its blocks, are held by an object in one of the blocks that
# knows the pool.
. tests/lib.sh

build pools tests/reach/pool_apart.c
lost_blocks "$W/pools" 3 6
