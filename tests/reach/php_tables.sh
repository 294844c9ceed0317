#!/bin/sh
# The elements of a table of PHP are reachable behind the hashes, and what a function of an
# extension takes behind what it returns, also if it takes nothing.
. tests/lib.sh

build tables tests/reach/php_tables.c
lost_blocks "$W/tables" 3 5
