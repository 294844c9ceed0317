#!/bin/sh
# What is recorded changes while threads allocate: freed blocks are gone, new ones are recorded.
#
# SWITCHES=20000 switches more often. See switched_then_freed.c.
. tests/lib.sh

for link in dynamic static; do
	flag=
	[ $link = dynamic ] || flag=-static
	# shellcheck disable=SC2086 # one flag or none
	build $link tests/alloc/switched_then_freed.c $flag
	LEAKWRAP_OPTIONS="log=$W/$link.log" "$W/$link" "${SWITCHES:-2000}" ||
		fail "$link: status $?"
	# After all is freed, the threads' own memory is left, and no sample.
	equal "$link: left" \
		"$(dump_lines "$W/$link.log" 1 | grep '^site ' | grep -v ' 0 bytes in 0 blocks' |
			grep -vc origin=system)" 0
	equal "$link: samples left" "$(dump_value "$W/$link.log" 1 sampled_blocks)" 0
	# Then each new block is recorded.
	equal "$link: recorded" "$(dump_lines "$W/$link.log" 2 | grep -B1 '#0 .* keep_one+' |
		sed -n 's/^site 1: \([0-9]*\) bytes in \([0-9]*\) blocks.*/\1 \2/p')" "800000 8000"
	equal "$link: state" "$(dump_lines "$W/$link.log" 2 |
		sed -n 's/^recording state=\([a-z]*\) since=20.*Z missing=possible$/\1/p')" all
	equal "$link: foreign" "$(dump_value "$W/$link.log" 2 foreign_frees)" 0
	equal "$link: reused" "$(dump_value "$W/$link.log" 2 freed_elsewhere_blocks)" 0
done
