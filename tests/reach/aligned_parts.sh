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
command -v gdb >/dev/null || skip "gdb is not installed"
rm -f "$W/log"
LEAKWRAP_OPTIONS=log=$W/log:blocks=1:exit=0 gdb -q -batch -ex "handle SIGUSR1 nostop noprint" \
	-ex "catch syscall exit_group" -ex "run $W/1.so $W/2.so $W/3.so" -ex "gcore $W/gcore" \
	-ex kill "$W/parts" >"$W/gdb" 2>&1
[ -s "$W/gcore" ] || skip "gdb cannot make a core file: $(tail -n 1 "$W/gdb")"
"$O/leakwrap" report --core="$W/gcore" "$W/log" >"$W/out" || fail "report: status $?"
grep -q 'possibly lost: 200 bytes in 1 block' "$W/out" || fail "core: $(head "$W/out")"
