#!/bin/sh
# The runtime works in a shared object that a program opens with dlopen, with every linker.
#
# The program knows nothing of it. The object's blocks are recorded, and the program's own wrappers
# are left alone.
. tests/lib.sh

$CC -O2 -fno-builtin -o "$W/user" tests/link/shared_user.c $DL_FOR_TESTS ||
	fail "cannot build the program"
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	# shellcheck disable=SC2046
	$CC -O2 -fPIC -fno-omit-frame-pointer -fno-builtin -shared -fuse-ld=$linker \
		-Wl,-z,defs -o "$W/vendor.so" \
		tests/link/shared_vendor.c $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) ||
		fail "$linker: does not link"
	readelf -dW "$W/vendor.so" >"$W/dynamic"
	! grep TEXTREL "$W/dynamic" || fail "$linker: not position-independent"

	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/user" "$W/vendor.so" >"$W/out"
	equal "$linker: exit status" $? 9
	equal "$linker: output" "$(cat "$W/out")" "done"
	dump_is_whole "$W/log" 1 || fail "$linker: no whole dump"
	equal "$linker: by_vendor" "$(site_by "$W/log" 1 by_vendor)" "2000 30"
	equal "$linker: foreign_frees" "$(dump_value "$W/log" 1 foreign_frees)" 1
done
