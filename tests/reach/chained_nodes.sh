#!/bin/sh
# An object is reachable by a node in it that has one link: of a list, or of a hash table of
# Userspace RCU.
. tests/lib.sh

build nodes tests/reach/chained_nodes.c
lost_blocks "$W/nodes" 3 8
