#!/bin/sh
# Blocks that a callback of the C library allocates are recorded apart from the outer call.
#
# A signal handler may run in the midst of getline or scandir. The tracer must not take its blocks
# for the outer call's blocks, and they must not change the outer call's record.
. tests/lib.sh

mkdir "$W/folder"
touch "$W/folder/one" "$W/folder/two"
for static in '' -static; do
	build "callbacks$static" $static tests/alloc/inside_callbacks.c
	for what in line list; do
		log=$W/$what$static
		"$W/callbacks$static" $what "$W/folder" >"$W/out" 2>"$log" ||
			fail "$what$static: status $?"
		for key in freed_elsewhere_blocks foreign_frees untracked_blocks; do
			equal "$what$static: $key" "$(dump_value "$log" 1 $key)" 0
		done
	done
	equal "the first buffer$static" "$(site_by "$W/line$static" 1 first_buffer)" "0 0"
	grown=$(site_by "$W/line$static" 1 grown_buffer)
	equal "the grown buffer$static" "${grown#* }" 1
	list=$(site_by "$W/list$static" 1 listed)
	equal "the list$static" "${list#* }" 5
done
