#!/bin/sh
# Estimates with sample= are right in the mean of many runs, and spread as the dump says.
#
# ESTIMATE_RUNS=200 makes more runs. The mean must be within one per cent of the truth then.
. tests/lib.sh

build estimates tests/alloc/estimates.c
runs=${ESTIMATE_RUNS:-8}

export LEAKWRAP_OPTIONS="log=$W/log:sample=64K:kinds=never"
for kind in tiny middle mixed; do
	for _ in $(seq "$runs"); do
		"$W/estimates" $kind >"$W/truth" || fail "$kind: status $?"
		sed 's/^leakwrap[^ ]* //' "$W/log" | awk '
			/^site / { bytes = $3; error = $0; sub(/.* error=/, "", error) }
			/^ *#0 .*hold_/ { sub(/\+.*/, "", $3); print $3, bytes, error + 0 }' \
			>>"$W/$kind"
		rm "$W/log"
	done
	# The bound is five standard errors of the mean. With many runs it is one per cent of the
	# truth. The spread of N values is itself uncertain by 1 / sqrt(2 N) of it.
	awk -v runs="$runs" '
		NR == FNR { truth[$1] = $2; next }
		{
			sum[$1] += $2
			off[$1] += ($2 - truth[$1]) ^ 2
			error[$1] += $3 ^ 2
			count[$1]++
		}
		END {
			for (site in truth) {
				mean = sum[site] / runs
				spread = sqrt(off[site] / error[site])
				bound = 5 * sqrt(error[site] / runs) / sqrt(runs)
				if (runs >= 200)
					bound = truth[site] / 100
				printf "%s: true %d, mean %d, %.2f %% off", site, truth[site],
					mean, 100 * mean / truth[site] - 100
				printf "; spread %.2f of the error\n", spread
				margin = 5 / sqrt(2 * runs)
				if (count[site] != runs || mean < truth[site] - bound ||
				    mean > truth[site] + bound || spread > 1 + margin ||
				    (runs >= 100 && spread < 1 - margin))
					bad = 1
			}
			exit bad
		}' "$W/truth" "$W/$kind" >"$W/said" || fail "$kind: $(cat "$W/said")"
	sed "s/^/$kind, /" "$W/said"
done
