#!/bin/sh
# The tracer never calls malloc.
#
# An allocator counts its calls. The program takes four dumps and an exit dump. It makes as many
# calls traced as untraced, dynamic and static.
. tests/lib.sh

for static in '' -static; do
	build_plain "plain$static" $static tests/alloc/tracer_never_mallocs.c \
		tests/alloc/own_malloc.c
	build "traced$static" $static tests/alloc/tracer_never_mallocs.c tests/alloc/own_malloc.c
	"$W/plain$static" "$W/plain$static.calls" 2>/dev/null || fail "plain$static: status $?"
	"$W/traced$static" "$W/traced$static.calls" 2>"$W/log$static" ||
		fail "traced$static: status $?"
	plain=$(od -An -tu8 "$W/plain$static.calls")
	traced=$(od -An -tu8 "$W/traced$static.calls")
	equal "calls$static" "$traced" "$plain"
	[ "$plain" -ge 4100 ] || fail "the allocator does not count: $plain"
	equal "dumps$static" "$(dumps "$W/log$static" | wc -l)" 5
done
