#!/bin/sh
# A getline that is left by siglongjmp or a cancellation leaves its buffer live and no misuse
# behind, however often.
. tests/lib.sh

for static in '' -static; do
	build "left$static" $static tests/alloc/left_getline.c
	log=$W/log$static
	LEAKWRAP_OPTIONS=misuse=report "$W/left$static" 2>"$log" || fail "status $?"
	LEAKWRAP_OPTIONS='' "$W/left$static" 2>"$log.unchecked" || fail "status $?"
	for log in "$log" "$log.unchecked"; do
		equal "buffer, left: $log" "$(site_by "$log" 1 make_buffer)" "40 1"
		equal "buffer, replaced: $log" "$(site_by "$log" 2 make_buffer)" "0 0"
		[ "$(site_by "$log" 2 read_line)" != "0 0" ] || fail "no line is live: $log"
		equal "buffer, at exit: $log" "$(site_by "$log" 3 make_buffer)" "0 0"
		equal "line, at exit: $log" "$(site_by "$log" 3 read_line)" "0 0"
		for key in untracked_blocks freed_elsewhere_blocks foreign_frees; do
			equal "$key: $log" "$(dump_value "$log" 3 $key)" 0
		done
		! grep misuse "$log" || fail "misuse: $log"
	done
done
