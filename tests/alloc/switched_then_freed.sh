#!/bin/sh
# What is recorded changes while threads allocate: freed blocks are gone, new ones are recorded.
#
# SWITCHES=20000 switches more often. See switched_then_freed.c.
. tests/lib.sh

build dynamic tests/alloc/switched_then_freed.c
build static tests/alloc/switched_then_freed.c -static
# A program that records no blocks at first, or a sample, looks for them later on.
for case in dynamic dynamic:record=0 dynamic:sample=64K static static:record=0; do
	link=${case%%:*} options='' switches=400
	if [ "$case" = "$link" ]; then switches=2000; else options=:${case#*:}; fi
	rm -f "$W/$link.log"
	LEAKWRAP_OPTIONS="log=$W/$link.log$options" "$W/$link" "${SWITCHES:-$switches}" ||
		fail "$case: status $?"
	# After all is freed, the threads' own memory is left, and no sample.
	equal "$case: left" \
		"$(dump_lines "$W/$link.log" 1 | grep '^site ' | grep -v ' 0 bytes in 0 blocks' |
			grep -vc origin=system)" 0
	equal "$case: samples left" "$(dump_value "$W/$link.log" 1 sampled_blocks)" 0
	# Then each new block is recorded.
	equal "$case: recorded" "$(dump_lines "$W/$link.log" 2 | grep -B1 '#0 .* keep_one+' |
		sed -n 's/^site 1: \([0-9]*\) bytes in \([0-9]*\) blocks.*/\1 \2/p')" "800000 8000"
	equal "$case: state" "$(dump_lines "$W/$link.log" 2 |
		sed -n 's/^recording state=\([a-z]*\) since=20.*Z missing=possible$/\1/p')" all
	equal "$case: foreign" "$(dump_value "$W/$link.log" 2 foreign_frees)" 0
	equal "$case: reused" "$(dump_value "$W/$link.log" 2 freed_elsewhere_blocks)" 0
done
