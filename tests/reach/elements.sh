#!/bin/sh
# What Berkeley DB holds in the heap by distances is reachable, also in a core file.  Of blocks that
# look like its own, what they seem to hold is lost.
. tests/lib.sh

build elements tests/reach/elements.c
lost_blocks "$W/elements" 4 0
