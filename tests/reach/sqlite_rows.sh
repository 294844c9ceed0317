#!/bin/sh
# The block in which SQLite formats a row is reachable by a pointer behind its first bytes.
. tests/lib.sh

build rows tests/reach/sqlite_rows.c
lost_blocks "$W/rows" 0 5
