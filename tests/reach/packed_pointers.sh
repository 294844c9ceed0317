#!/bin/sh
# A pointer with other data in its upper bits is a pointer if it leads to a block's first byte.
. tests/lib.sh

[ "$(getconf LONG_BIT)" = 64 ] || skip "an address needs all bits of a word"
build packed tests/reach/packed_pointers.c -fno-builtin -Iwrap
lost_blocks "$W/packed" 6 0
# Also with another step.
LEAKWRAP_OPTIONS=kinds=always:pointer_step=4:exit=0:log=$W/steps.log "$W/packed" ||
	fail "status $?"
equal "definitely lost, by steps" "$(dump_value "$W/steps.log" 1 definite_blocks)" 6
equal "possibly lost, by steps" "$(dump_value "$W/steps.log" 1 possible_blocks)" 0
