#!/bin/sh
# Pointers in memory count also when the program may only read the memory now: shared memory, and
# memory that holds code made at run time. The search in a core file agrees.
. tests/lib.sh

for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build read_only tests/reach/read_only.c $link
	LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/read_only" ||
		fail "'$link': status $?"
	dump_lines "$W/log" 1 | awk '
		/^site / { kind = $NF; sub("=.*", "", kind) }
		/^ *#0 / { sub(/[.+].*/, "", $3) }
		/^ *#0 / && $3 ~ /^keep_/ { print $3, kind }' >"$W/got"
	equal "'$link'" "$(sort "$W/got" | tr '\n' ' ')" "keep_code reachable keep_file reachable \
keep_private reachable keep_shared reachable "
	rm "$W/log"
done
report_of_core '' "$W/read_only"
grep -q "definitely lost: 0 bytes in 0 blocks" "$W/out" || fail "core: $(head -n 20 "$W/out")"
