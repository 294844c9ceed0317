#!/bin/sh
# Walks in programs that use prebuilt archives, which have no frame pointers: at each allocation the trace
# must be complete and equal to libgcc's.
. tests/lib.sh

export LEAKWRAP_OPTIONS=exit=0:signal=none:depth=256
wrap=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--eh-frame-hdr

archives=
for library in lua5.4 sqlite3 xml2 glib-2.0 crypto; do
	archive=$($CC -print-file-name=lib$library.a)
	[ -e "$archive" ] || skip "lib$library.a is not installed"
	archives="$archives $archive"
done
headers=$(pkg-config --cflags lua5.4 sqlite3 libxml-2.0 glib-2.0 libcrypto) || skip "no pkg-config"

# shellcheck disable=SC2086 # lists
build_plain workloads.o -c -fomit-frame-pointer $headers tests/unwind/workloads.c
build_plain archives.o -c -fomit-frame-pointer tests/unwind/archives.c
for how in "" -static -static-pie; do
	name=archives$how
	# shellcheck disable=SC2086 # lists
	build_plain "$name" "$W/archives.o" "$W/workloads.o" tests/unwind/compare.c "$O/libleakwrap.a" $how $wrap \
		$archives -lpcre2-8 -licuuc -licudata -lz -llzma -lstdc++ -lm 2>"$W/$name.log"
	"$W/$name" >"$W/$name.out" 2>"$W/$name.err" || fail "$name: $(cat "$W/$name.out" "$W/$name.err")"
	echo "$name: $(cat "$W/$name.out")"
done
