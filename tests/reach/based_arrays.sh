#!/bin/sh
# An array is reachable by the address that its element 0 would have, if its lowest number is
# another one and stands in front of the address. So is a table of rows.
. tests/lib.sh

build arrays tests/reach/based_arrays.c
lost_blocks "$W/arrays" 6 0
