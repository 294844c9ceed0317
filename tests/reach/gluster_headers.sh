#!/bin/sh
# Blocks of GlusterFS are reachable by pointers behind their headers.
. tests/lib.sh

build headers tests/reach/gluster_headers.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/headers" || fail "status $?"
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks) blocks" "2 blocks"

# The search in a core file agrees.
report_of_core '' "$W/headers"
grep -q 'possibly lost: 168 bytes in 2 blocks' "$W/out" || fail "core: $(head "$W/out")"
