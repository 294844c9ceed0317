#!/bin/sh
# A hash table of Rust is reachable, although the program has only a pointer behind its elements.
. tests/lib.sh

for link in '' -static; do
	# shellcheck disable=SC2086 # one flag or none
	build tables tests/reach/hash_tables.c $link
	LEAKWRAP_OPTIONS="kinds=always:libraries=0:log=$W/log" "$W/tables" ||
		fail "$link: status $?"
	equal "$link: lost" "$(dump_value "$W/log" 1 definite_bytes)" 0
	# 32 elements of two words, 48 control bytes, and 31 blocks.
	word=$(($(getconf LONG_BIT) / 8))
	equal "$link: possibly lost" "$(dump_value "$W/log" 1 possible_bytes)" \
		$((32 * 2 * word + 48 + 31 * 50))
	rm "$W/log"
done

# The search in a core file agrees.
command -v gdb >/dev/null || skip "gdb is not installed"
rm -f "$W/log"
LEAKWRAP_OPTIONS=log=$W/log:blocks=1:exit=0:libraries=0 gdb -q -batch \
	-ex "handle SIGUSR1 nostop noprint" -ex "catch syscall exit_group" -ex run \
	-ex "gcore $W/gcore" -ex kill "$W/tables" >"$W/gdb" 2>&1
[ -s "$W/gcore" ] || skip "gdb cannot make a core file: $(tail -n 1 "$W/gdb")"
"$O/leakwrap" report --core="$W/gcore" "$W/log" >"$W/out" || fail "report: status $?"
grep -q 'possibly lost: 2,110 bytes in 32 blocks' "$W/out" || fail "core: $(head "$W/out")"
