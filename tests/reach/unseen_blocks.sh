#!/bin/sh
# Pointers in blocks that the tracer has not recorded keep blocks, once it knows that there are such
# blocks: then the dump says heap=part.  What it remembers of a stream itself keeps no block.
. tests/lib.sh

build unseen tests/reach/unseen_blocks.c
for how in "seen known 1" "foreign part 0" "untracked part 0" "stream known 2"; do
	# shellcheck disable=SC2086 # a list
	set -- $how
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/unseen" "$1"
	status=$?
	[ $status != 77 ] || skip "the C library is not glibc"
	equal "$1: status" $status 0
	equal "$1: heap" "$(dump_value "$W/log" 1 heap)" "$2"
	equal "$1: lost" "$(dump_value "$W/log" 1 definite_blocks)" "$3"
done
