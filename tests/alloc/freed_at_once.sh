#!/bin/sh
# A pool that frees its blocks at once frees all that it has handed out.
. tests/lib.sh

$CC -O1 -c -o "$W/program.o" tests/alloc/freed_at_once.c || fail "cannot compile"
$CC -O1 -DPOOL -c -o "$W/pool.o" tests/alloc/freed_at_once.c || fail "cannot compile"
for kind in -pie -static; do
	LEAKWRAP_LIB=$O/libleakwrap.a "$O/leakwrap" cc \
		--allocator='malloc=single_alloc,free=single_free,malloc=shared_alloc' -- \
		"$CC" $kind -O1 -o "$W/program" "$W/program.o" "$W/pool.o" ||
		fail "$kind: does not link"
	for options in unwind=auto misuse=report; do
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log:exit=0:$options "$W/program" || fail "status $?"
		for dump in 1 3 5; do
			equal "$kind, $options: dump $dump" "$(site_by "$W/log" $dump fill)" \
				"2099912 1999"
			equal "$kind, $options: dump $((dump + 1))" \
				"$(site_by "$W/log" $((dump + 1)) fill)" "0 0"
		done
		equal "$kind, $options: foreign frees" "$(dump_value "$W/log" 6 foreign_frees)" 0
	done
done
