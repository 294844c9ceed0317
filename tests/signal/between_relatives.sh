#!/bin/sh
# The dump signal between processes of one program acts as in the untraced program, without a dump.
#
# It ends a child that has no handler, and runs the handler of a child that has a handler. Requests
# by other programs still dump.
. tests/lib.sh

build_plain plain tests/signal/between_relatives.c
for static in '' -static; do
	build "family$static" $static tests/signal/between_relatives.c
	for how in at_once with_handler ignoring all_ways by_other_calls by_wait stopping \
		asked_by_other; do
		log=$W/$how$static.log
		signal=USR1 dumps=0
		[ $how != stopping ] || signal=TSTP
		[ $how != asked_by_other ] || dumps=1
		[ -n "$static" ] || [ $how = asked_by_other ] || "$W/plain" $how ||
			fail "plain $how: status $?"
		LEAKWRAP_OPTIONS=signal=$signal:exit=0:log=$log "$W/family$static" $how ||
			fail "$how$static: status $?"
		equal "$how$static: dumps" "$(dumps "$log" | wc -l)" $dumps
	done
done
