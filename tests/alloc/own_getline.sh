#!/bin/sh
# A program's own int getline(char *, int), which is not the C library's, works as if untraced.
. tests/lib.sh

for static in '' -static; do
	build "own_getline$static" $static tests/alloc/own_getline.c tests/alloc/own_getline_part.c
	LEAKWRAP_OPTIONS=exit=0 "$W/own_getline$static" || fail "status $? of getline$static"
done
