#!/bin/sh
# A block of libtalloc is reachable by a pointer behind its header, also if nothing is there.  An
# array that is as large as a header is not reachable by a pointer to its end.
. tests/lib.sh

build_program_only chunks tests/reach/talloc_chunks.c
lost_blocks "$W/chunks" 1 1
