#!/bin/sh
# Walks through prebuilt archives, which have no frame pointers, are complete and equal to libgcc's.
. tests/lib.sh

export LEAKWRAP_OPTIONS=exit=0:signal=none:depth=256
wrap=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--eh-frame-hdr

find_prebuilt_archives

# shellcheck disable=SC2086 # lists
build_plain workloads.o -c -fomit-frame-pointer $headers tests/unwind/workloads.c
build_plain archives.o -c -fomit-frame-pointer tests/unwind/archives.c
for how in "" -static -static-pie; do
	case $how-$($CC -dumpmachine) in
	-static-pie-i?86-*)
		echo "left out: $how: glibc's memset_chk cannot be linked so there"
		continue
		;;
	esac
	name=archives$how
	# shellcheck disable=SC2086 # lists
	build_plain "$name" "$W/archives.o" "$W/workloads.o" tests/unwind/compare.c \
		"$O/libleakwrap.a" $how $wrap \
		$archives 2>"$W/$name.log"
	"$W/$name" >"$W/$name.out" 2>"$W/$name.err" ||
		fail "$name: $(cat "$W/$name.out" "$W/$name.err")"
	echo "$name: $(cat "$W/$name.out")"
done
