#!/bin/sh
# A block of mpv's allocator is reachable by a pointer behind its header, if the header has the size
# of the rest and a mark, also if the block has a header alone.
. tests/lib.sh

build blocks tests/reach/mpv_blocks.c
lost_blocks "$W/blocks" 1 2
