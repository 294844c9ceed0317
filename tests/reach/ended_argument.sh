#!/bin/sh
# A block that has the address of an ended thread's argument is lost all the same.
. tests/lib.sh
without_stale_pointers

for kind in -pie -static; do
	build ended_argument tests/reach/ended_argument.c -pthread $kind
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log="$W/log" "$W/ended_argument" || fail "$kind: status $?"
	got=$(sed -n 's/.* kinds definite_bytes=\([0-9]*\) definite_blocks=\([0-9]*\) .*/\1 \2/p' \
		"$W/log")
	equal "$kind: definitely lost" "$got" "160 4"
done
