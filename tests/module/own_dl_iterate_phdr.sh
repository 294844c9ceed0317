#!/bin/sh
# A program's own dl_iterate_phdr may allocate. The tracer calls it when it starts, before it knows
# the original malloc, and after each dlopen.
. tests/lib.sh

build process tests/module/own_dl_iterate_phdr.c
build_program_only program tests/module/own_dl_iterate_phdr.c
for traced in process program; do
	LEAKWRAP_OPTIONS=log=$W/$traced.log "$W/$traced" 2>"$W/errors" ||
		fail "$traced: status $?, $(cat "$W/errors")"
	dump_is_whole "$W/$traced.log" 1 || fail "$traced: no whole dump"
	equal "$traced: by main" "$(site_by "$W/$traced.log" 1 main)" "77 1"
	equal "$traced: in dl_iterate_phdr" \
		"$(site_by "$W/$traced.log" 1 dl_iterate_phdr)" "0 0"
	equal "$traced: coverage" "$(dump_lines "$W/$traced.log" 1 | grep ^coverage)" \
		"coverage $traced"
done
