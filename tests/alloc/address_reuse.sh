#!/bin/sh
# Two threads that reuse each other's addresses lose no block.
#
# The tracer records a free before it happens and an allocation after it happens. So no block is
# lost, no block is counted twice, and no block seems to have been freed elsewhere.
# timeout: 300
. tests/lib.sh

build reuse tests/alloc/address_reuse.c tests/alloc/own_malloc.c
blocks=$("$W/reuse" 2>"$W/log") || fail "status $?"
live=$(site_by "$W/log" 1 swap)
equal "live blocks" "${live#* }" "$blocks"
equal "freed elsewhere" "$(dump_value "$W/log" 1 freed_elsewhere_blocks)" 0
equal "foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
