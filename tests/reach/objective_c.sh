#!/bin/sh
# An object of Objective-C is reachable by a pointer behind the number of its owners.
. tests/lib.sh

build objects tests/reach/objective_c.c
lost_blocks "$W/objects" 3 4
