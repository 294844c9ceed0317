#!/bin/sh
# An object of a shared library is reachable by a pointer to a part of it, also in a core file that
# lacks the code of libraries: a debugger leaves it out.
. tests/lib.sh

build_plain libobjects.so -shared -fPIC -DLIBRARY tests/reach/library_objects.c
build objects tests/reach/library_objects.c -L"$W" -lobjects -Wl,-rpath,"$W"
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/objects" || fail "status $?"
equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" 0

report_of_core '' "$W/objects"
grep -q 'possibly lost: .* in 0 blocks' "$W/out" || fail "core: $(head "$W/out")"
