#!/bin/sh
# An object of CPython is reachable by a pointer to its characters, and the values of its attributes
# by a pointer behind the order in which they came.
. tests/lib.sh
without_stale_pointers

build parts tests/reach/python_parts.c
lost_blocks "$W/parts" 6 6
