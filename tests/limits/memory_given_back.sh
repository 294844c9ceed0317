#!/bin/sh
# When the heap has shrunk, a dump gives the memory of the tracer's tables back, and loses no
# record.
. tests/lib.sh

build shrink tests/limits/memory_given_back.c
"$W/shrink" >"$W/out" 2>"$W/log"
status=$?
[ $status != 77 ] || skip "this system cannot take pages away"
equal "status" $status 0
read -r before after <"$W/out"
full=$(dump_value "$W/log" 1 tracer_bytes)
freed=$(dump_value "$W/log" 2 tracer_bytes)
echo "tracer_bytes $full, then $freed; the process $before KB, then $after KB"
[ "$full" -gt 30000000 ] || fail "the tables of 300 MB in small blocks take $full bytes only"
[ "$freed" -lt 1000000 ] || fail "the tracer still holds $freed bytes of $full"
[ $((before - after)) -gt 30000 ] || fail "the process has $after KB, and had $before KB"
for n in 1:3000000 2:10 3:3000000; do
	equal "blocks in dump ${n%:*}" "$(site_by "$W/log" "${n%:*}" fill)" \
		"$((${n#*:} * 100)) ${n#*:}"
done
for key in untracked_blocks freed_elsewhere_blocks foreign_frees; do
	equal "$key" "$(dump_value "$W/log" 4 $key)" 0
done
