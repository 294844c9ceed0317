#!/bin/sh
# The live table of programs without an operating system agrees with a model of it, on this machine.
. tests/lib.sh

# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -DLEAKWRAP_BARE -fsanitize=address,undefined \
	-fno-sanitize-recover=all -o "$W/table" \
	tests/bare/table.c wrap/bare/live.c || fail "cannot build"
"$W/table" || fail "status $?"
