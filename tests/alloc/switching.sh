#!/bin/sh
# Recording is switched again and again while threads allocate: no block is lost or counted twice.
#
# SWITCHES=10000 switches more often. See switching.c.
. tests/lib.sh

build switching tests/alloc/switching.c
LEAKWRAP_OPTIONS="log=$W/log:kinds=never" "$W/switching" "${SWITCHES:-300}" >"$W/kept" ||
	fail "status $?"

held=$(for function in malloc calloc realloc; do
	site_by "$W/log" 1 "shared_$function"
done | awk '{ bytes += $1; blocks += $2 } END { print blocks + 0, bytes + 0 }')
equal "blocks and bytes of exact mode" "$held" "$(sed -n 's/^exact //p' "$W/kept")"
# The errors of the call sites add up by their squares.
dump_lines "$W/log" 1 | awk -v wanted="$(sed -n 's/^sampled [0-9]* //p' "$W/kept")" '
	/^site / { bytes = $3; error = $0; sub(/.* error=/, "", error) }
	/^ *#0 .* sampled_/ { sum += bytes; squares += error ^ 2 }
	END {
		printf "sampled: true %d bytes, estimated %d, error %d\n", wanted, sum,
			sqrt(squares)
		exit (sum - wanted) ^ 2 > 36 * squares
	}' >"$W/said" || fail "$(cat "$W/said")"
cat "$W/kept" "$W/said"
