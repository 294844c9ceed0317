#!/bin/sh
# The live table of programs without an operating system, against a model, on this machine.
. tests/lib.sh

# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -DLEAKWRAP_SMALL -fsanitize=address,undefined -fno-sanitize-recover=all -o "$W/table" \
	tests/bare/table.c wrap/bare/live.c || fail "cannot build"
"$W/table" || fail "status $?"
