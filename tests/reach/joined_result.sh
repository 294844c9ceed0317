#!/bin/sh
# What an ended thread has returned is lost once nobody can take it any more: after a join that
# dropped it, and in a detached thread. As long as a join may come, it is reachable. The search in a
# core file agrees.
. tests/lib.sh

for kind in -pie -static; do
	build joined tests/reach/joined_result.c $kind
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/joined" || fail "$kind: status $?"
	dump_lines "$W/log" 1 | awk '
		/^site / { kind = $NF }
		/^ *#0 / { sub(/[.+].*/, "", $3) }
		/^ *#0 / && $3 ~ /^(keep|lose)_/ { print $3, kind }' | sort | tr '\n' ' ' >"$W/got"
	equal "$kind" "$(cat "$W/got")" "keep_unjoined reachable=50/1 lose_detached definite=30/1 \
lose_joined definite=200/2 "
done
report_of_core '' "$W/joined"
grep -q "definitely lost: 230 bytes in 3 blocks" "$W/out" || fail "core: $(head -n 20 "$W/out")"
