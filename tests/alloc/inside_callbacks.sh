#!/bin/sh
# What the program's own functions allocate while they are called by the C library's, as signal handlers are at any time,
# is not taken for a part of the outer call, and leaves no trace in what that records.
. tests/lib.sh

mkdir "$W/folder"
touch "$W/folder/one" "$W/folder/two"
for static in '' -static; do
	build "callbacks$static" $static tests/alloc/inside_callbacks.c
	for what in line list; do
		log=$W/$what$static
		"$W/callbacks$static" $what "$W/folder" >"$W/out" 2>"$log" || fail "$what$static: status $?"
		for key in freed_elsewhere_blocks foreign_frees untracked_blocks; do
			equal "$what$static: $key" "$(dump_value "$log" 1 $key)" 0
		done
	done
	equal "the first buffer$static" "$(site_by "$W/line$static" 1 first_buffer)" "0 0"
	equal "the grown buffer$static" "$(site_by "$W/line$static" 1 grown_buffer | cut -d' ' -f2)" 1
	equal "the list$static" "$(site_by "$W/list$static" 1 listed | cut -d' ' -f2)" 5
done
