#!/bin/sh
# What a header in front of an object leads to is not lost where an operator new of the program's
# own puts it there: the dump says heap=part. The search in a core file agrees.
. tests/lib.sh

CXX=$(cxx_of "$CC")
for link in '' -static; do
	rm -f "$W/log" "$W/core.log" "$W/gcore"
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$CXX -O2 -g -I. -fno-builtin -o "$W/program" $link tests/reach/new_headers.cpp \
		tests/reach/new_operators.cpp \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) || fail "$link: cannot link"
	lost_blocks "$W/program" 10 0
	equal "$link: heap" "$(dump_value "$W/log" 1 heap)" part
done
