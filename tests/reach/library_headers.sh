#!/bin/sh
# The elements of an object of SpiderMonkey, a vector of NTL and a language of Pango are reachable
# by a pointer behind their header.
. tests/lib.sh

build blocks tests/reach/library_headers.c
lost_blocks "$W/blocks" 0 15
