#!/bin/sh
# A block is reachable by an aligned pointer into it, if the block's own address stands there.
. tests/lib.sh

build parts tests/reach/aligned_parts.c
for i in 1 2 3; do
	echo "int unique_$i;" >"$W/$i.c"
	build_plain "$i.so" -shared -fPIC "$W/$i.c"
done
LEAKWRAP_OPTIONS=kinds=always:log=$W/log "$W/parts" "$W/1.so" "$W/2.so" "$W/3.so" ||
	fail "status $?"
equal "lost" "$(dump_value "$W/log" 1 definite_bytes)" 0
equal "possibly lost" "$(dump_value "$W/log" 1 possible_bytes) bytes" "200 bytes"

# The search in a core file agrees.
report_of_core '' "$W/parts" "$W/1.so" "$W/2.so" "$W/3.so"
grep -q 'possibly lost: 200 bytes in 1 block' "$W/out" || fail "core: $(head "$W/out")"
