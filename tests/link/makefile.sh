#!/bin/sh
# A user's three-line makefile works: with the source tree, an installed prefix, and another
# archive.
. tests/lib.sh

ROOT=$PWD
mkdir "$W/vendor" || fail "cannot make $W/vendor"
$CC -O2 -fno-omit-frame-pointer -fno-builtin -c -o "$W/vendor/leaks.o" tests/link/leaks.c ||
	fail "cannot compile"
(cd "$W/vendor" && ar rcs vendor.a leaks.o)

# use NAME FLAGS-FILE [MAKE-VARIABLE...]: builds the program in a folder of its own and checks its
# dump.
use() {
	name=$1 flags=$2
	shift 2
	mkdir "$W/$name" || fail "cannot make $W/$name"
	cp "$W/vendor/vendor.a" "$W/$name/"
	# shellcheck disable=SC2016 # for make, not for the shell
	printf 'include %s\napp: vendor.a\n\t$(CC) -o $@ $^ %s\n' "$flags" \
		'$(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS)' >"$W/$name/Makefile"
	(
		# This make is independent of a make that may be running the test.
		unset MAKEFLAGS MFLAGS MAKELEVEL LEAKWRAP_LIB
		cd "$W/$name" && make -s CC="$CC -u main" "$@" >make.out 2>&1
	) || fail "$name: make: $(cat "$W/$name/make.out")"
	LEAKWRAP_OPTIONS=log=$W/$name/log "$W/$name/app" >"$W/$name/out"
	equal "$name: exit status" $? 5
	equal "$name: by_malloc" "$(site_by "$W/$name/log" 1 by_malloc)" "700 7"
	equal "$name: by_strdup" "$(site_by "$W/$name/log" 1 by_strdup)" "13 1"
}

# The default archive of a source tree is build/libleakwrap.a beside linker-flags.mk. The checkout's
# build folder does not belong to this test, so it makes a tree of links.
mkdir -p "$W/tree/build"
for file in linker-flags.mk wrap; do
	ln -s "$ROOT/$file" "$W/tree/$file"
done
ln -s "$O/libleakwrap.a" "$W/tree/build/libleakwrap.a"
use source_tree ../tree/linker-flags.mk

use other_archive "$ROOT/linker-flags.mk" LEAKWRAP_LIB="$O/libleakwrap.a"

(
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s O="$O" CC="$CC" PREFIX="$W/prefix" install >"$W/install.out" 2>&1
) || fail "make install: $(cat "$W/install.out")"
use installed "$W/prefix/share/leakwrap/linker-flags.mk"

# An installed tree may be moved.
mv "$W/prefix" "$W/elsewhere"
use moved "$W/elsewhere/share/leakwrap/linker-flags.mk"
