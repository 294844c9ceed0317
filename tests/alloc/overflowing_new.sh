#!/bin/sh
# A size that overflows in the C++ library does not count, and no dump hangs over it.
# timeout: 60
. tests/lib.sh
. tests/alloc/as_untraced_cxx.sh

as_untraced tests/alloc/overflowing_new.cpp
bytes=$(dump_value "$W/log" 1 live_bytes)
[ "${#bytes}" -le 7 ] || fail "live bytes: $bytes"
