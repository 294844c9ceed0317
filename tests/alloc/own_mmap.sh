#!/bin/sh
# A program may wrap mmap and allocate in its wrapper: the tracer never calls this wrapper.
. tests/lib.sh

WRAPS=-Wl,--wrap=mmap64,--wrap=munmap,--wrap=madvise
for static in '' -static; do
	build_plain "plain$static" $static $WRAPS tests/alloc/own_mmap.c
	build "traced$static" $static $WRAPS tests/alloc/own_mmap.c
	"$W/plain$static" >"$W/plain.out" || fail "status $? of plain$static"
	timeout -s KILL 20 "$W/traced$static" >"$W/traced.out" 2>"$W/log" ||
		fail "status $? of traced$static"
	equal "what the program says" "$(cat "$W/traced.out")" "$(cat "$W/plain.out")"
	equal "the program's blocks" "$(site_by "$W/log" 1 main)" "$((201 * 100 * 1024)) 200"
done
