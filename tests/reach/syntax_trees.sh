#!/bin/sh
# A node of tree-sitter is reachable by the address of its data, behind its children.
. tests/lib.sh

build trees tests/reach/syntax_trees.c
lost_blocks "$W/trees" 0 8
