#!/bin/sh
# An object of Free Pascal is reachable by an interface.
. tests/lib.sh

build interfaces tests/reach/pascal_interfaces.c
lost_blocks "$W/interfaces" 3 5
