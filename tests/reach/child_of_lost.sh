#!/bin/sh
# In a forked child's dump, which leaves the parent's blocks out, a block of the child's own is
# definitely lost if only lost blocks of the parent lead to it.
. tests/lib.sh

build program tests/reach/child_of_lost.c
LEAKWRAP_OPTIONS="log=$W/log" "$W/program" || fail "status $?"
dump=$(dumps "$W/log" | head -n 1)
equal "inherited" "$(dump_value "$W/log" "$dump" inherited_blocks)" 2
equal "live" "$(dump_value "$W/log" "$dump" live_blocks)" 3
equal "definitely lost" "$(dump_value "$W/log" "$dump" definite_blocks)" 2
equal "indirectly lost" "$(dump_value "$W/log" "$dump" indirect_blocks)" 1
equal "bytes" "$(dump_value "$W/log" "$dump" definite_bytes)" $((2 * $(getconf LONG_BIT) / 8 + 112))
