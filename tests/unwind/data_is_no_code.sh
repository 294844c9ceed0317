#!/bin/sh
# A walk takes no data for code that was generated at run time, and does not read it.
#
# Another thread may unmap data at any time. Code that is generated later, where a walk has come to
# data before, is found nevertheless.
# timeout: 120
. tests/lib.sh

[ "$(uname -m)" = x86_64 ] || skip "the calls are x86's"

for kind in dynamic static; do
	static=
	[ $kind = dynamic ] || static=-static
	# shellcheck disable=SC2086 # a list of flags
	build "$kind" $static -fno-omit-frame-pointer -pthread \
		tests/unwind/data_is_no_code.c 2>"$W/warnings" || fail "cannot build $kind"

	for case in data executable; do
		"$W/$kind" $case 2>"$W/log" || fail "$kind, $case: status $?"
		equal "$kind, $case" "$(dump_sites "$W/log" 1 | sed -n 's/^11 //p')" \
			"1 truncated allocate_under;"
	done

	"$W/$kind" unmapped 2>"$W/log" || fail "$kind, unmapped: status $?"

	"$W/$kind" late 2>"$W/log" || fail "$kind, late: status $?"
	dump_sites "$W/log" 1 | sed -n 's/;main;.*/;main;/p' | grep -q ' guessed ?;call;' ||
		fail "$kind, late: no stack through the code: $(dump_sites "$W/log" 1)"
done
