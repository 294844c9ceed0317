#!/bin/sh
# What GLib holds by pointers into blocks is reachable: the small blocks in its slabs, types,
# closures, and strings and blocks with a count of references.
. tests/lib.sh

pkg-config --exists gobject-2.0 || skip "libglib2.0-dev is not installed"
# shellcheck disable=SC2046 # a list of flags
build parts tests/reach/glib_parts.c $(pkg-config --cflags --libs gobject-2.0)
# GLib from version 2.76 on always allocates by malloc.
for slices in '' always-malloc; do
	rm -f "$W/log"
	G_SLICE=$slices LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/parts" ||
		fail "$slices: status $?"
	equal "$slices: lost" "$(dump_value "$W/log" 1 definite_blocks)" 3
	equal "$slices: possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 12
done

# The search in a core file agrees.
report_of_core '' "$W/parts"
grep -q 'definitely lost: .* in 3 blocks' "$W/out" || fail "core: $(head -n 20 "$W/out")"
grep -q 'possibly lost: .* in 12 blocks' "$W/out" || fail "core: $(head -n 20 "$W/out")"
