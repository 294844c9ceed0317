#!/bin/sh
# An instance of GObject is reachable by a pointer behind its private data, and so is what it holds.
. tests/lib.sh
without_stale_pointers

pkg-config --exists gobject-2.0 || skip "libglib2.0-dev is not installed"
export G_SLICE=always-malloc # as GLib from version 2.76 on allocates
# shellcheck disable=SC2046 # a list of flags
build objects tests/reach/glib_objects.c $(pkg-config --cflags --libs gobject-2.0)
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/objects" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 3
equal "lost with them" "$(dump_value "$W/log" 1 indirect_blocks)" 3
dump_lines "$W/log" 1 | awk '
	/^site/ { site = $0 }
	/ make_player\+/ && site ~ /(possible|definite|within)=/ { print site }' >"$W/wrong"
[ ! -s "$W/wrong" ] || fail "kept instances: $(cat "$W/wrong")"

# The search in a core file agrees.
report_of_core '' "$W/objects"
grep -q 'definitely lost: .* in 3 blocks' "$W/out" || fail "core: $(head -n 20 "$W/out")"
