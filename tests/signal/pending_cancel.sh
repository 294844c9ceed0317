#!/bin/sh
# A pending cancellation does not end a thread inside a dump.
#
# The thread writes its dump and ends at the same place as untraced.
. tests/lib.sh

for static in '' -static; do
	build "cancel$static" $static tests/signal/pending_cancel.c
	equal "the thread$static" "$(timeout 20 "$W/cancel$static" 2>"$W/log$static")" \
		"reached 1, cancelled 1"
	equal "dumps$static" "$(dumps "$W/log$static" | sed 's/.*\.//' | tr '\n' ' ')" "1 2 "
	equal "the block$static" "$(site_by "$W/log$static" 1 dumping)" "10 1"
done
