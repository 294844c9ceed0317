#!/bin/sh
# A block that realloc is copying is in a dump, until the new block is; no counter says anything
# else meanwhile, also if another thread gets the old block's address before realloc returns.
. tests/lib.sh

failed=
# expect STATIC DUMP FUNCTION "BYTES BLOCKS"...: several are alternatives.
expect() {
	static=$1 dump=$2 function=$3
	shift 3
	got=$(site_by "$W/log$static" "$dump" "$function")
	for wanted; do
		[ "$got" != "$wanted" ] || return 0
	done
	failed="$failed; dump $dump$static: $function has $got"
}

for static in '' -static; do
	build "realloc$static" $static tests/signal/inside_realloc.c \
		tests/alloc/handed_on_malloc.c
	"$W/realloc$static" 2>"$W/log$static" || fail "status $?"
	expect "$static" 1 allocates "200000000 1"
	expect "$static" 1 resizes "0 0"
	# The old block is free, the new one is not the program's yet: one of them is shown.
	case $(site_by "$W/log$static" 2 allocates)+$(site_by "$W/log$static" 2 resizes) in
	"200000000 1+0 0" | "0 0+300000000 1") ;;
	*) failed="$failed; dump 2$static: $(dump_lines "$W/log$static" 2 | grep '^total')" ;;
	esac
	expect "$static" 3 takes_over "200000000 1"
	expect "$static" 4 allocates "0 0"
	expect "$static" 4 takes_over "200000000 1"
	expect "$static" 4 resizes "300000000 1"
	expect "$static" 5 takes_over "200000000 1"
	expect "$static" 5 resizes "300000000 1"
	expect "$static" 6 resizes "0 0"
	expect "$static" 6 takes_over "0 0"
	for dump in 1 2 3 4 5 6; do
		for key in untracked_blocks freed_elsewhere_blocks foreign_frees; do
			count=$(dump_value "$W/log$static" $dump $key)
			[ "$count" = 0 ] || failed="$failed; dump $dump$static: $key=$count"
		done
	done
done
[ -z "$failed" ] || fail "${failed#; }"
