#!/bin/sh
# What jemalloc keeps of its blocks is no pointer to them: lost blocks are found. Where the calls of
# shared libraries are not seen, its caches may still lead to small ones.
. tests/lib.sh

library=$($CC -print-file-name=libjemalloc.a)
[ -e "$library" ] || skip "libjemalloc.a is not installed"
[ "$(getconf LONG_BIT)" = 64 ] || skip "jemalloc's records are other ones here"

# lost FUNCTION: prints how many blocks of it are definitely lost.
lost() {
	dump_lines "$W/log" 1 | awk -v f="$1" '
		/^site / { line = $0 }
		/^ *#0 / && $3 ~ "^" f "[+.]" && match(line, /definite=[0-9]*\/[0-9]*/) {
			split(substr(line, RSTART, RLENGTH), part, "/")
			sum += part[2]
		}
		END { print sum + 0 }'
}

# A large block that begins with a page may have the address that jemalloc has kept of memory that
# was free before: that is so for one block in some hundred.
for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build program $link tests/reach/jemalloc.c "$library" -lm -lstdc++
	rm -f "$W/log" "$W/core.log" "$W/gcore"
	LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/program" || fail "$link: status $?"
	[ "$(lost lose_large)" -ge 7 ] || fail "$link: large: $(lost lose_large) of 10"
	equal "$link: kept" "$(lost keep)" 0
	[ -z "$link" ] || equal "$link: small" "$(lost lose_small)" 14

	# Nor are there too many extents, and what looks like a record is none.
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/program" 100000 || fail "$link: $?"
	[ "$(lost lose_large)" -ge 7 ] || fail "$link: large, many: $(lost lose_large) of 10"
	equal "$link: kept, many" "$(lost keep)" 0

	# The search in a core file of the same process agrees.
	report_of_core :kinds=always "$W/program"
	blocks=$(dump_value "$W/core.log" 1 definite_blocks)
	grep -q "definitely lost: .* in $blocks blocks" "$W/out" || fail "core: $(head "$W/out")"
done
