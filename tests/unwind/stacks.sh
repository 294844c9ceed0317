#!/bin/sh
# Walks on unusual stacks are equal to libgcc's, and walks on stacks full of garbage do not fault.
. tests/lib.sh

export LEAKWRAP_OPTIONS=exit=0:signal=none:depth=256
wrap=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--eh-frame-hdr

build_plain stacks.o -c -fomit-frame-pointer -Wframe-larger-than=500000 tests/unwind/stacks.c
for frame in 100 3000; do
	build_plain "plugin$frame.so" -shared -fPIC -fomit-frame-pointer -DFRAME=$frame \
		tests/unwind/plugin.c
done
for how in dynamic static static-pie; do
	flag=-$how
	[ $how != dynamic ] || flag=
	# shellcheck disable=SC2086 # lists
	build_plain $how "$W/stacks.o" tests/unwind/compare.c "$O/libleakwrap.a" $flag $wrap
	plugins="none none"
	[ $how != dynamic ] || plugins="$W/plugin100.so $W/plugin3000.so"
	case $how-$($CC -dumpmachine) in
	static-i?86-* | static-pie-i?86-*)
		echo "left out: $how: libgcc does not know the vdso there"
		continue
		;;
	esac
	# shellcheck disable=SC2086
	"$W/$how" $plugins >"$W/$how.out" 2>&1 || fail "$how: $(head -n 60 "$W/$how.out")"
	echo "$how: $(cat "$W/$how.out")"
	"$W/$how" garbage 10000 || fail "$how: garbage, status $?"
done

# The walks also work with the marks of checked jumps, with other optimizations, and in C++ code
# that handles exceptions.
for flags in -fcf-protection -O0 -Os -O3; do
	build_plain stacks.o -c -fomit-frame-pointer $flags tests/unwind/stacks.c
	build_plain "stacks$flags" "$W/stacks.o" tests/unwind/compare.c "$O/libleakwrap.a" $wrap
	"$W/stacks$flags" none none >"$W/out" 2>&1 || fail "$flags: $(head -n 60 "$W/out")"
	echo "$flags: $(cat "$W/out")"
done
build_plain compare.o -c tests/unwind/compare.c
for flags in -O2 -Os "-O2 -static" "-O2 -fno-omit-frame-pointer"; do
	# shellcheck disable=SC2086 # lists
	g++ -std=c++17 -Wall -Wextra -I. -Iwrap -fomit-frame-pointer $flags -o "$W/landing" \
		tests/unwind/landing.cpp "$W/compare.o" \
		"$O/libleakwrap.a" $wrap -pthread || fail "cannot build landing"
	"$W/landing" >"$W/out" 2>&1 || fail "landing $flags: $(head -n 60 "$W/out")"
	echo "landing $flags: $(cat "$W/out")"
done
