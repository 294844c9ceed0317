#!/bin/sh
# A release that siglongjmp has left does not hide later frees, even if the block is allocated
# again.
. tests/lib.sh

build jumped tests/alloc/left_by_longjmp.c tests/alloc/own_malloc.c
"$W/jumped" 2>"$W/log" || fail "status $?"
equal "foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 6
equal "live" "$(site_by "$W/log" 1 leave)" "40 1"
