#!/bin/sh
# In pools at random, a process and the search in its core file find the same blocks reachable,
# possibly lost and lost. POOL_SEEDS=N looks at N programs.
# timeout: 3600
. tests/lib.sh

build pools tests/reach/random_pools.c

# kinds ARGUMENT...: prints the stack and the kind of each call site, which has one block. Which of
# the lost blocks is the one that others hang on is up to the search.
kinds() {
	"$O/leakwrap" report --format=json "$@" 2>"$W/errors" | jq -r '
		.dumps[0].call_sites[] | (.frames | map(.address) | join(" ")) as $stack |
		if .kinds.reachable_blocks > 0 then "reachable"
		elif .kinds.possible_blocks > 0 then "possible"
		else "lost" end | . + " " + $stack' | sort
}

for seed in $(seq "${POOL_SEEDS:-4}"); do
	rm -f "$W/core.log" "$W/gcore"
	report_of_core :kinds=always "$W/pools" "$seed"
	kinds "$W/core.log" >"$W/process"
	kinds --core="$W/gcore" "$W/core.log" >"$W/tool"
	[ "$(wc -l <"$W/process")" -gt 500 ] || fail "seed $seed: $(wc -l <"$W/process") blocks"
	for kind in reachable possible lost; do
		grep -q "^$kind" "$W/process" || fail "seed $seed: nothing is $kind"
	done
	diff "$W/process" "$W/tool" >"$W/differing" ||
		fail "seed $seed: the process (<), the tool (>): $(head -n 5 "$W/differing")"
done
