#!/bin/sh
# A destructor of a library may wait for a thread of its own that the exit dump has woken from its
# sleep: the thread goes on, long before a minute has passed.
. tests/lib.sh

# library FLAG...: builds the library.
library() {
	# shellcheck disable=SC2086 # a list of flags
	$CC $CFLAGS_FOR_TESTS "$@" -fPIC -shared -o "$W/libworker.so" \
		tests/process/worker_library.c -pthread || fail "cannot build the library"
}

# check WHAT: runs the programs.  The kinds show that the dump has stopped the thread.
check() {
	for case in program: process: process:libraries=0; do
		rm -f "$W/log"
		LEAKWRAP_OPTIONS="log=$W/log:${case#*:}" timeout 30 "$W/${case%:*}" ||
			fail "$1, $case: status $?"
		dump_lines "$W/log" 1 | grep -q '^kinds ' || fail "$1, $case: no kinds"
	done
}

library
set -- tests/process/worker_at_exit.c "$W/libworker.so" -Wl,-rpath,"$W"
build_program_only program "$@"
build process "$@"
check joins
library -DSPINS
check spins
