#!/bin/sh
# A block of Mesa's ralloc is reachable by a pointer behind its header, if the links in the header
# lead back, also if the block has a header alone.  One that is not aligned is no such block.
. tests/lib.sh

build blocks tests/reach/ralloc_blocks.c
lost_blocks "$W/blocks" 3 4
equal "indirectly lost" "$(dump_value "$W/log" 1 indirect_blocks)" 2
