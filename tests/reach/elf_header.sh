#!/bin/sh
# Constants beside the ELF header of a module are no pointers, also where a core file has them.
. tests/lib.sh

build header tests/reach/elf_header.c -Wl,-z,separate-code
report_of_core :kinds=always "$W/header"
equal "lost" "$(dump_value "$W/core.log" 1 definite_bytes)" 4096
readelf -SW "$W/header" | grep -q '\.note\.block' || skip "the linker has no such section"
grep -q 'definitely lost: 4,096 bytes in 1 block' "$W/out" || fail "core: $(head "$W/out")"
