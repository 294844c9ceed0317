#!/bin/sh
# What a pattern or a set of characters of fontconfig holds by distances is reachable.  Of blocks
# that look like them, what they seem to hold is lost.
. tests/lib.sh

build blocks tests/reach/held_by_distance.c
# Five arrays of elements, and four sets with two arrays and five leaves each.
lost_blocks "$W/blocks" $((5 + 4 * 7)) 0
