#!/bin/sh
# An exception of a failing operator new passes through the wrapper, in every form of the operator.
#
# It is bad_alloc, or what a new_handler throws. Nothrow forms return NULL. Later blocks are
# recorded as before.
. tests/lib.sh

WRAPS=$(leakwrap_flags LEAKWRAP_LDFLAGS)

for driver in g++ clang++; do
	command -v $driver >"$W/which" 2>&1 || {
		echo "left out: no $driver"
		continue
	}
	for kind in dynamic static; do
		case $kind in dynamic) flag="" ;; static) flag="-static" ;; esac
		# shellcheck disable=SC2046,SC2086
		{
			set -- -std=gnu++17 -O2 -fno-omit-frame-pointer -fno-builtin $flag \
				tests/link/bad_alloc.cpp
			$driver -o "$W/plain" "$@" &&
				$driver -o "$W/traced" "$@" $WRAPS \
					$(leakwrap_flags LEAKWRAP_CXX_LDLIBS)
		} || fail "$driver, $kind: does not link"
		"$W/plain" >"$W/plain.out"
		equal "$driver, $kind: exit status untraced" $? 4
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log "$W/traced" >"$W/traced.out"
		equal "$driver, $kind: exit status" $? 4
		cmp "$W/plain.out" "$W/traced.out" || fail "$driver, $kind: behaves differently"
		equal "$driver, $kind: bad_alloc" "$(grep -c 'std::bad_alloc' "$W/traced.out")" 800

		sed -n 's/^leaks //p' "$W/traced.out" >"$W/leaks"
		equal "$driver, $kind: forms" "$(wc -l <"$W/leaks")" 8
		while read -r function bytes blocks; do
			equal "$driver, $kind: $function" "$(site_by "$W/log" 1 "$function")" \
				"$bytes $blocks"
		done <"$W/leaks"
		equal "$driver, $kind: freed_elsewhere_blocks" \
			"$(dump_value "$W/log" 1 freed_elsewhere_blocks)" 0
	done
done
