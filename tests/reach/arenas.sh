#!/bin/sh
# An arena of Protocol Buffers is reachable by a pointer behind the start of its oldest block.
. tests/lib.sh

build arenas tests/reach/arenas.c
lost_blocks "$W/arenas" 3 5
