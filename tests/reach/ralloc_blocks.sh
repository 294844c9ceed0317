#!/bin/sh
# A block of Mesa's ralloc is reachable by a pointer behind its header, if the links in the header
# lead back, also if the block has a header alone.
. tests/lib.sh

build blocks tests/reach/ralloc_blocks.c
lost_blocks "$W/blocks" 1 4
