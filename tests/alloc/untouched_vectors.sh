#!/bin/sh
# A function of argz or envz that has nothing to do does not read the vector, traced or not.
. tests/lib.sh

for static in '' -static; do
	build_plain "plain$static" $static tests/alloc/untouched_vectors.c
	build "traced$static" $static tests/alloc/untouched_vectors.c
	"$W/plain$static" >"$W/expected" || fail "untraced$static: status $?"
	"$W/traced$static" >"$W/out" 2>"$W/log" || fail "traced$static: status $?"
	equal "output$static" "$(cat "$W/out")" "$(cat "$W/expected")"
done
