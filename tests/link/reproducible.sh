#!/bin/sh
# Builds in two folders are the same with the flags that the Makefile's head names.
. tests/lib.sh

# shellcheck disable=SC2016 # for the reader of the Makefile
flag=$(sed -n 's/^#.* CC="gcc \(-ffile-prefix-map=\$PWD=\.\)".*/\1/p' Makefile)
[ -n "$flag" ] || fail "the Makefile's head names no flag"
$CC -Werror "-ffile-prefix-map=$PWD=." -E -x c /dev/null >"$W/out" 2>&1 ||
	skip "$CC does not have -ffile-prefix-map"

OBJECTS="wrap/record/allocate.o report/dump.o entry/malloc/malloc.o every_c.o tools/base/memory.o
	process/keep_allocator.o"
for folder in one two; do
	mkdir -p "$W/$folder/build" || fail "cannot make $W/$folder"
	cp -R Makefile linker-flags.mk wrap report tools "$W/$folder" || fail "cannot copy"
	(
		cd "$W/$folder" || exit 1
		map=-ffile-prefix-map=$PWD=.
		# shellcheck disable=SC2046,SC2086 # targets
		make -s O=build CC="$CC $map" HOSTCC="cc $map" $(printf 'build/%s ' $OBJECTS)
	) >"$W/make.out" 2>&1 || fail "$folder: $(tail -n 5 "$W/make.out")"
done
for object in $OBJECTS; do
	cmp "$W/one/build/$object" "$W/two/build/$object" || fail "another $object"
done
