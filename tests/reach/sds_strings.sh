#!/bin/sh
# A string of SDS, as Redis has, is reachable by the address of its characters.
. tests/lib.sh

build strings tests/reach/sds_strings.c
lost_blocks "$W/strings" 0 12
