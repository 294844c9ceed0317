#!/bin/sh
# The C API: dumps to a descriptor, counters, recording switched off, blocks ignored, a pool's own blocks,
# backtraces.  errno stays as it was.
. tests/lib.sh

for static in '' -static; do
	build "api$static" $static tests/rules/api.c
	"$W/api$static" "$W/dump$static" >"$W/out$static" 2>"$W/log$static" || fail "status $?"
	diff - "$W/out$static" <<-END || fail "the answers$static"
		ignore: 0, inside a block: -1
		backtrace: 3
		return address: 1 1 1
		dump: 0
		still open: 1
		dump to a closed descriptor: -1
		dump to the log: 0
		$(sed -n 's/^counters: .*/&/p' "$W/out$static")
		foreign frees: 0
		errno 77
	END
	for dump in "$W/dump$static 1" "$W/log$static 3"; do
		# shellcheck disable=SC2086 # file and number
		set -- $dump
		equal "reason$static" "$(dump_value "$1" "$2" reason)" api
		equal "seen$static" "$(site_by "$1" "$2" seen)" "10 1"
		equal "unseen$static" "$(site_by "$1" "$2" unseen)" "0 0"
		equal "ignored$static" "$(site_by "$1" "$2" ignored)" "0 0"
		equal "from the pool$static" "$(site_by "$1" "$2" from_pool)" "1000 2"
	done
	# A dynamic program's C library is not traced: nothing else is there.
	[ -n "$static" ] || equal "counters" "$(sed -n 's/^counters: //p' "$W/out")" "1010 3 3 1"
	equal "the exit dump$static" "$(dump_value "$W/log$static" 4 reason)" exit
done
