#!/bin/sh
# A block is reachable by a pointer to a part of it, if the part leads to the block by way of other
# parts.
. tests/lib.sh

build parts tests/reach/parts_lead_back.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/parts" || fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_bytes)" 0
equal "possibly lost" "$(dump_value "$W/log" 1 possible_bytes) bytes" "2000 bytes"

# The search in a core file agrees.
report_of_core '' "$W/parts"
grep -q 'possibly lost: 2,000 bytes in 1 block' "$W/out" || fail "core: $(head "$W/out")"
