#!/bin/sh
# A hash table of Abseil is reachable by the address of its control bytes.
. tests/lib.sh

build tables tests/reach/swiss_tables.c
lost_blocks "$W/tables" 0 9
