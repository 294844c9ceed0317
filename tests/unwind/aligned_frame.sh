#!/bin/sh
# The stack of a function that aligns sp by a move to its lowest byte is never wrong and called
# complete, although no table describes it.
. tests/lib.sh
. tests/targets/target.sh

[ "$(uname -m)" = x86_64 ] || skip "only x86-64 has such moves"
moved=0
for level in -O0 -O1 -O2 -O3 -Os; do
	# shellcheck disable=SC2046 # a list of flags
	gcc $level -std=gnu11 -I. -fno-unwind-tables -fno-asynchronous-unwind-tables \
		-fomit-frame-pointer -fno-stack-protector -o "$W/aligned" \
		tests/unwind/aligned_frame.c $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) ||
		fail "$level: cannot build"
	objdump -d "$W/aligned" | grep -q 'mov  *[$]0x0,%spl' && moved=$((moved + 1))
	LEAKWRAP_OPTIONS=log=$W/$level.log "$W/aligned" || fail "$level: status $?"
	dump_sites "$W/$level.log" 1 >"$W/sites"
	grep -q '^1000 \|^2000 ' "$W/sites" || fail "$level: no call site: $(cat "$W/sites")"
	! grep ' complete ' "$W/sites" | grep -v ' scene;load;main;' ||
		fail "$level: wrong, and complete"
done
[ $moved -gt 0 ] || skip "this gcc aligns in another way"
