#!/bin/sh
# A block of libtalloc is reachable by a pointer behind its header, also if nothing is there.  An
# array that is as large as a header is not reachable by a pointer to its end.
. tests/lib.sh

build_program_only chunks tests/reach/talloc_chunks.c
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/chunks" || fail "status $?"
equal "lost blocks" "$(dump_value "$W/log" 1 definite_blocks)" 1
equal "possibly lost blocks" "$(dump_value "$W/log" 1 possible_blocks)" 1

# The search in a core file agrees.
report_of_core '' "$W/chunks"
grep -q 'possibly lost: .* in 1 block$' "$W/out" || fail "core: $(head "$W/out")"
grep -q 'definitely lost: .* in 1 block' "$W/out" || fail "core: $(head "$W/out")"
