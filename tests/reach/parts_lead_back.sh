#!/bin/sh
# A block is reachable by a pointer to a part of it, if the part leads to the block by way of other
# parts.
. tests/lib.sh

build parts tests/reach/parts_lead_back.c
lost_blocks "$W/parts" 0 1
equal "possibly lost" "$(dump_value "$W/log" 1 possible_bytes) bytes" "2000 bytes"
grep -q 'possibly lost: 2,000 bytes' "$W/out" || fail "core: $(head "$W/out")"
