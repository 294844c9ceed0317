#!/bin/sh
# __cxa_demangle refuses a name that is not mangled as it does untraced, whatever the buffer's
# length is.
. tests/lib.sh
. tests/alloc/as_untraced_cxx.sh

as_untraced tests/alloc/demangle_nothing.cpp
equal "live blocks of main" "$(site_by "$W/log" 1 main)" "0 0"
equal "freed elsewhere" "$(dump_value "$W/log" 1 freed_elsewhere_blocks)" 0
