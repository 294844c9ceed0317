#!/bin/sh
# A block that one function of the C library allocates for another belongs to the library, unless
# the other function hands it on to the program.
. tests/lib.sh

WRAPS=$(leakwrap_flags LEAKWRAP_LDFLAGS)
C=$(leakwrap_flags LEAKWRAP_LDLIBS)

# programs_blocks WHAT: prints how many call sites of the dump are the program's.
programs_blocks() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/handed_on" "$1" || fail "$kind, $1: status $?"
	dump_lines "$W/log" 1 | grep -c '^site .*[0-9]$'
}

compile_once "$CC" -g -D_GNU_SOURCE tests/link/handed_on.c
for kind in -pie -static; do
	# shellcheck disable=SC2086 # lists of flags
	$CC $kind -o "$W/handed_on" "$object" $WRAPS $C || fail "$kind: does not link"
	for what in ctime tzset localtime setlocale textdomain; do
		equal "$kind, $what" "$(programs_blocks $what)" 0
	done
	for what in tmpfile setmntent spawn obstack wordexp glob; do
		[ "$(programs_blocks $what)" != 0 ] || fail "$kind, $what: $(cat "$W/log")"
	done
done
