#!/bin/sh
# An array whose first element the program leaves out is reachable by the address of the second one,
# if the number of elements, without the first, stands beside that address.
. tests/lib.sh
without_stale_pointers

build arrays tests/reach/left_out_elements.c
lost_blocks "$W/arrays" 3 7
