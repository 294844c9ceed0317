#!/bin/sh
# The program sees the same with the tracer and without.
#
# This covers results, errno, contents, signal dispositions, descriptors, standard output and exit
# status. A failed realloc leaves the old block live. realloc to 0 frees if the allocator does.
# malloc(0) is a live block of 0 bytes.
. tests/lib.sh

quiet="-Wno-unknown-warning-option -Wno-alloc-size-larger-than"
for static in '' -static; do
	# shellcheck disable=SC2086 # a list of flags
	build_plain "plain$static" tests/process/transparent.c $static $quiet
	# shellcheck disable=SC2086 # a list of flags
	build "traced$static" tests/process/transparent.c $static $quiet
	"$W/plain$static" >"$W/plain$static.out" 2>"$W/plain$static.err"
	equal "exit status, plain$static" $? 5
	"$W/traced$static" >"$W/traced$static.out" 2>"$W/traced$static.log"
	equal "exit status, traced$static" $? 5
	cmp "$W/plain$static.out" "$W/traced$static.out" || {
		diff "$W/plain$static.out" "$W/traced$static.out"
		fail "the program sees something else"
	}
	[ ! -s "$W/plain$static.err" ] || fail "the plain program wrote to standard error"

	log=$W/traced$static.log
	equal "malloc(0)$static" "$(site_by "$log" 1 empty)" "0 1"
	equal "block whose realloc failed$static" "$(site_by "$log" 1 survivor)" "40 1"
	equal "block resized to nothing$static" "$(site_by "$log" 1 resized_to_nothing)" "0 0"
	equal "call of the failed realloc$static" "$(site_by "$log" 1 failing)" "0 0"
	equal "call of realloc to 0$static" "$(site_by "$log" 1 to_nothing)" "0 0"
	equal "all the rest$static" "$(site_by "$log" 1 main)" "0 0"
	equal "foreign frees$static" "$(dump_value "$log" 1 foreign_frees)" 0
done
