#!/bin/sh
# An object is reachable by a node of a list, tree or hash table in it, and by a part that leads to
# it, is a watcher of libev, or is behind such a node.
. tests/lib.sh

build parts tests/reach/linked_parts.c
lost_blocks "$W/parts" 3 19
