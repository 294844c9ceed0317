#!/bin/sh
# The counts are exact when getline replaces a buffer in one thread while other threads allocate and
# free: the C library frees the old buffer unseen, and at once its address may be another thread's
# block.
. tests/lib.sh

build threads tests/alloc/getline_threads.c tests/alloc/handed_on_malloc.c
"$W/threads" 2>"$W/log" || fail "status $?"
failed=
# expect LOG DUMP FUNCTION "BYTES BLOCKS"
expect() {
	got=$(site_by "$W/$1" "$2" "$3")
	[ "$got" = "$4" ] || failed="$failed; $1, dump $2: $3 has $got instead of $4"
}
# no_losses LOG DUMP
no_losses() {
	for key in untracked_blocks freed_elsewhere_blocks foreign_frees; do
		got=$(dump_value "$W/$1" "$2" $key)
		[ "$got" = 0 ] || failed="$failed; $1, dump $2: $key=$got"
	done
}
expect log 1 make_buffer "40 1"
[ "$(site_by "$W/log" 1 read_line)" != "0 0" ] || failed="$failed; no line is live"
expect log 2 make_buffer "0 0"
expect log 2 read_line "0 0"
no_losses log 2
[ -z "$failed" ] || fail "${failed#; }"
