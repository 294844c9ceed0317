#!/bin/sh
# Each delivered signal has its dump, even if signals come faster than dumps can be written.
#
# Every thread allocates meanwhile and goes on. The exit dump comes.
. tests/lib.sh

for static in '' -static; do
	build "overload$static" $static tests/signal/storm.c
	LEAKWRAP_OPTIONS=log="$W/log$static" timeout 60 "$W/overload$static" 1 >"$W/out$static" ||
		fail "overload$static: status $?"
	read -r delivered rounds <"$W/out$static"
	[ "$delivered" -gt 20 ] || fail "overload$static: only $delivered signals were delivered"
	[ "$rounds" -gt 100 ] || fail "overload$static: the threads made only $rounds rounds"
	equal "overload$static: dumps by signal" \
		"$(grep -c 'reason=signal' "$W/log$static")" "$delivered"
	equal "overload$static: exit dumps" "$(grep -c 'reason=exit' "$W/log$static")" 1
	equal "overload$static: whole dumps" "$(dumps "$W/log$static" | wc -l)" $((delivered + 1))
	rm "$W/log$static" # it is large
done
