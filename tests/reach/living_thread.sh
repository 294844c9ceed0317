#!/bin/sh
# All that a thread has lost is lost while it lives: what the tracer remembers of it, beside its
# stack, is no pointer of the program. The search in a core file agrees.
. tests/lib.sh
without_stale_pointers

for kind in -pie -static; do
	build living tests/reach/living_thread.c $kind
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:exit=0:log=$W/log" "$W/living" || fail "$kind: status $?"
	equal "$kind: lost" "$(dump_value "$W/log" 1 definite_bytes)" 300
done
report_of_core '' "$W/living"
grep -q "definitely lost: 300 bytes in 3 blocks" "$W/out" || fail "core: $(head -n 20 "$W/out")"
