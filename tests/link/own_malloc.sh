#!/bin/sh
# A program that brings its own allocator in an archive before the runtime keeps it.
#
# The allocator defines malloc and its relatives, or the C++ operators. This holds with every
# linker.
. tests/lib.sh

WRAPS=$(leakwrap_flags LEAKWRAP_LDFLAGS)
LLD_STATIC=$(leakwrap_flags LEAKWRAP_LLD_LDFLAGS)
OPTIONS="-O2 -fno-pie -fno-omit-frame-pointer -fno-builtin"

# shellcheck disable=SC2086
{
	$CC $OPTIONS -c -o "$W/own_malloc.o" tests/link/own_malloc.c &&
		$CC $OPTIONS -c -o "$W/malloc_user.o" tests/link/own_malloc_user.c &&
		g++ $OPTIONS -c -o "$W/own_new.o" tests/link/own_new.cpp &&
		g++ $OPTIONS -c -o "$W/new_user.o" tests/link/own_new_user.cpp
} || fail "cannot compile"
for which in malloc new; do
	ar rcs "$W/libown_$which.a" "$W/own_$which.o"
done

for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	for kind in no-pie static; do
		wraps=$WRAPS
		# The allocator lacks memalign, with which newer lld brings in glibc's malloc.
		[ $linker-$kind != lld-static ] ||
			wraps="$wraps $LLD_STATIC -Wl,--allow-multiple-definition"
		for which in malloc new; do
			what="$linker, $kind, own $which"
			case $which in
			malloc) driver=$CC libraries=LEAKWRAP_LDLIBS ;;
			new) driver=g++ libraries=LEAKWRAP_CXX_LDLIBS ;;
			esac
			# shellcheck disable=SC2046,SC2086
			$driver -fuse-ld=$linker -$kind -o "$W/user" "$W/${which}_user.o" \
				"$W/libown_$which.a" $wraps \
				$(leakwrap_flags $libraries) || fail "$what: does not link"
			rm -f "$W/log"
			equal "$what" "$(LEAKWRAP_OPTIONS=log=$W/log "$W/user")" "its own allocator"
			equal "$what: the leak" "$(site_by "$W/log" 1 by_$which)" "300 1"
		done
	done
done
