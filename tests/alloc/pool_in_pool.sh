#!/bin/sh
# A named function that resizes calls the pool's other named functions: what it returns was never
# freed elsewhere.
. tests/lib.sh

for part in PROGRAM POOL POOL_RESIZE; do
	$CC -O1 -D$part -c -o "$W/$part.o" tests/alloc/pool_in_pool.c || fail "cannot compile"
done
for kind in -pie -static; do
	LEAKWRAP_LIB=$O/libleakwrap.a "$O/leakwrap" cc \
		--allocator='malloc=pool_take,realloc=pool_resize,free=pool_give' -- \
		"$CC" $kind -O1 -o "$W/program" "$W/PROGRAM.o" "$W/POOL.o" "$W/POOL_RESIZE.o" ||
		fail "$kind: does not link"
	for options in unwind=auto misuse=report; do
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log:$options "$W/program" || fail "status $?"
		equal "$kind, $options" "$(site_by "$W/log" 1 fill)" "270000 100"
		for key in freed_elsewhere_blocks foreign_frees; do
			equal "$kind, $options: $key" "$(dump_value "$W/log" 1 $key)" 0
		done
	done
done
