#!/bin/sh
# What is recorded changes while threads allocate: the totals have each kept block, and once.
#
# SWITCHES=10000 switches more often. See switched_totals.c.
. tests/lib.sh

build switched_totals tests/alloc/switched_totals.c -lm
LEAKWRAP_OPTIONS="log=$W/log:kinds=never" "$W/switched_totals" "${SWITCHES:-300}" >"$W/kept" ||
	fail "status $?"

held=$(for function in malloc calloc realloc; do
	site_by "$W/log" 1 "shared_$function"
done | awk '{ bytes += $1; blocks += $2 } END { print blocks + 0, bytes + 0 }')
equal "blocks and bytes of exact mode" "$held" \
	"$(sed -n 's/^exact \([0-9]* [0-9]*\) .*/\1/p' "$W/kept")"
# The estimate is judged by the error that it must have.  The error in the dump is itself an
# estimate, and too small where chance left out most of the blocks.
dump_lines "$W/log" 1 | awk -v kept="$(sed -n 's/^sampled [0-9]* //p' "$W/kept")" '
	BEGIN { split(kept, true_sum) }
	/^site / { bytes = $3 }
	/^ *#0 .* sampled_/ { sum += bytes }
	END {
		printf "sampled: true %d bytes, standard error %d, estimated %d\n", true_sum[1],
			true_sum[2], sum
		exit (sum - true_sum[1]) ^ 2 > 36 * true_sum[2] ^ 2
	}' >"$W/said" || fail "$(cat "$W/said")"
cat "$W/kept" "$W/said"
