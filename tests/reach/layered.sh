#!/bin/sh
# A malloc on top of another one keeps blocks by pointers in front of other blocks: these are not
# lost, and the dump says heap=part. The search in a core file agrees. With an allocator that keeps
# no pointers there, memory between blocks does not count.
. tests/lib.sh

# shellcheck disable=SC2086 # lists of flags
$CC $CFLAGS_FOR_TESTS -shared -fPIC -o "$W/liblayered.so" tests/reach/layered_malloc.c \
	$DL_FOR_TESTS || fail "cannot build the library"

# heap WHAT WANTED: fails unless the last dump says heap=WANTED.
heap() {
	equal "$1: heap" "$(dump_value "$W/log" 1 heap)" "$2"
}

build program -Wl,--no-as-needed "-L$W" -llayered "-Wl,-rpath,$W" tests/reach/layered.c
lost_blocks "$W/program" 10 0
heap "a library" part

rm -f "$W/log" "$W/core.log" "$W/gcore"
build program -static -DIN_ARCHIVE tests/reach/layered.c tests/reach/layered_malloc.c
lost_blocks "$W/program" 10 0
heap "an archive" part

# known WHAT: runs the program, and fails unless memory between its blocks does not count.
known() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/program" || fail "$1: status $?"
	heap "$1" known
	[ "$(dump_value "$W/log" 1 definite_blocks)" -gt 0 ] || fail "$1: nothing is lost"
}

build program tests/reach/layered.c
known glibc
library=$($CC -print-file-name=libmimalloc.so.2)
if [ -e "$library" ]; then
	export LD_PRELOAD="$library"
	known mimalloc
	unset LD_PRELOAD
else
	echo "left out: libmimalloc is not installed"
fi
library=$($CC -print-file-name=libtcmalloc_minimal.a)
if [ -e "$library" ]; then
	build_with LEAKWRAP_CXX_LDLIBS program -static tests/reach/layered.c "$library" \
		-lstdc++ -lm
	known tcmalloc
else
	echo "left out: libtcmalloc_minimal.a is not installed"
fi
