#!/bin/sh
# A dump and a crash trace that come on an alternate stack of the least size write nothing below it.
. tests/lib.sh

failed=
for static in '' -static; do
	build_plain "plain$static" $static tests/signal/small_stack.c
	build "small$static" $static tests/signal/small_stack.c
	"$W/plain$static" own >"$W/out" || fail "untraced: status $?"
	read -r size overwritten <"$W/out"
	echo "untraced$static: $overwritten bytes below a stack of $size"
	equal "untraced" "$overwritten" 0
	for how in own crash; do
		log=$W/log$static.$how
		LEAKWRAP_OPTIONS=crash=1 "$W/small$static" $how >"$W/out" 2>"$log" ||
			fail "$how$static: status $?"
		read -r size overwritten <"$W/out"
		echo "$how$static: $overwritten bytes below a stack of $size"
		[ "$overwritten" = 0 ] || failed="$failed; $how$static: $overwritten bytes overwritten"
		reason=signal
		[ $how = own ] || reason=crash
		grep -q " reason=$reason " "$log" || failed="$failed; $how$static: no dump"
	done
done
[ -z "$failed" ] || fail "${failed#; }"
