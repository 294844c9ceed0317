#!/bin/sh
# Wrapped calls inside wrapped calls count once, for the outer call.
#
# In a static program strdup and similar functions reach malloc through its wrapper. A call that
# longjmp or a cancellation ends does no harm to the next call.
. tests/lib.sh

for static in '' -static; do
	build "nested$static" $static tests/alloc/nested_wrappers.c
	log=$W/log$static
	"$W/nested$static" >"$W/out$static" 2>"$log" || fail "status $?"
	line=$(sed -n 's/.* has \([0-9]*\) bytes/\1/p' "$W/out$static")
	equal "strdup$static" "$(site_by "$log" 1 duplicates)" "80 10"
	prints=$(site_by "$log" 1 prints)
	equal "blocks of asprintf$static" "${prints#* }" 10
	[ "${prints% *}" -ge 110 ] || fail "asprintf$static: 10 texts of 11 bytes take ${prints% *}"
	equal "strdup and free$static" "$(site_by "$log" 1 duplicates_and_frees)" "0 0"
	equal "getline$static" "$(site_by "$log" 1 reads_a_line)" "$line 1"
	equal "after longjmp$static" "$(site_by "$log" 1 after_longjmp)" "308 2"
	equal "after cancellation$static" "$(site_by "$log" 1 after_cancel)" "408 2"
	for function in strdup __strdup asprintf __asprintf vasprintf __vasprintf_internal; do
		equal "$function itself$static" "$(site_by "$log" 1 $function)" "0 0"
	done
	# In the dynamic program, libc frees a FILE and its buffer unseen. Neither program has
	# foreign frees.
	equal "freed elsewhere$static" "$(dump_value "$log" 1 freed_elsewhere_blocks)" 0
	equal "foreign frees$static" "$(dump_value "$log" 1 foreign_frees)" 0
done
