#!/bin/sh
# Blocks of GlusterFS are reachable by pointers behind their headers.
. tests/lib.sh

build headers tests/reach/gluster_headers.c
lost_blocks "$W/headers" 0 2
grep -q 'possibly lost: 168 bytes' "$W/out" || fail "core: $(head "$W/out")"
