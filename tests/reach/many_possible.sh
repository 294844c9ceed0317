#!/bin/sh
# What possibly lost blocks lead to is possibly lost, however many these blocks are.
. tests/lib.sh

build possible tests/reach/many_possible.c
LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$W/possible" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_blocks)" 0
equal "lost indirectly" "$(dump_value "$W/log" 1 indirect_blocks)" 0
equal "possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" $((20000 * (40 + 24)))
