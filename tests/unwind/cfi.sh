#!/bin/sh
# The interpreter of call frame information handles every kind of frame, and damaged tables.
. tests/lib.sh

case $($CC -dumpmachine) in
x86_64-*) ;;
*) skip "its frames are written for x86-64" ;;
esac

parts="tests/unwind/cfi.c tests/unwind/stand_ins.c wrap/unwind/rule_cache.c
	wrap/unwind/eh_frame.c wrap/unwind/fde.c wrap/unwind/cfa_program.c wrap/unwind/dwarf_expr.c"
# shellcheck disable=SC2086 # a list
build_plain cfi $parts
# shellcheck disable=SC2086
build_plain cfi_checked $parts -fsanitize=address,undefined -fno-sanitize-recover=all

"$W/cfi" rules || fail "wrong rules"
"$W/cfi_checked" rules || fail "wrong rules"
"$W/cfi" damaged 200000 || fail "damaged tables"
"$W/cfi_checked" damaged 20000 || fail "damaged tables"
