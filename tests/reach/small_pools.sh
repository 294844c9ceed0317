#!/bin/sh
# A small pool is known as one, too, where no part of it begins at an address that an allocator
# returns: the pool's header keeps blocks reachable, its free memory does not. A part of a pool may
# be a pool.
. tests/lib.sh

# 100 blocks of three words.
word=$(($(getconf LONG_BIT) / 8))
for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build pools tests/reach/small_pools.c $link
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/pools" || fail "'$link': status $?"
	equal "'$link': definite" "$(dump_value "$W/log" 1 definite_bytes)" $((300 * word))
	equal "'$link': possible" "$(dump_value "$W/log" 1 possible_bytes)" 0
done
