#!/bin/sh
# Blocks at stacks that were never seen before, among many that are freed: each dump has their whole
# backtraces, says which are from after a mark, and which a forked child inherited.
. tests/lib.sh

build_program_only young tests/limits/young_sites.c
LEAKWRAP_OPTIONS=depth=40 "$W/young" 2>"$W/log" || fail "status $?"

# The process, and its child.
processes=$(sed -n 's/^leakwrap\[\([0-9]*\)\.1\] dump .*/\1/p' "$W/log")
parent=${processes%%[!0-9]*} child=${processes##*[!0-9]}

# check DUMP BLOCKS: the dump has so many kept blocks, and their sizes tell their backtraces.
check() {
	dump_sites "$W/log" "$1" >"$W/sites"
	said=$(awk '
		{ split($4, frame, ";"); grown = 0 }
		frame[1] !~ /^grow_/ { next }
		{
			for (i = 1; frame[i] ~ /^grow_/; i++)
				grown++
			if ($1 / $2 < 1000)
				next # it will be freed
			size = 1000 + 20 * grown + substr(frame[1], 6, 1)
			if ($3 != "complete" || $1 / $2 != size || $4 !~ /;main;/)
				print "bad site: " $0
			blocks += $2
		}
		END { print blocks + 0 }' "$W/sites")
	equal "dump $1" "$said" "$2"
	equal "dump $1: lost_call_sites" "$(dump_value "$W/log" "$1" lost_call_sites)" 0
}

check "$parent.1" 200
check "$parent.2" 350
since_mark=$(dump_value "$W/log" "$parent.2" since_mark_blocks)
[ "$since_mark" -ge 50 ] || fail "$since_mark blocks since the mark, wanted 50 or more"
# The other thread has 13 blocks at most.
[ "$since_mark" -le 63 ] || fail "$since_mark blocks since the mark, wanted 63 or fewer"
check "$child.1" 40
inherited=$(dump_value "$W/log" "$child.1" inherited_blocks)
equal "inherited blocks" "$inherited" 370
check "$parent.3" 300
equal "resized" "$(site_by "$W/log" "$parent.3" resize_one)" "165000 110"
