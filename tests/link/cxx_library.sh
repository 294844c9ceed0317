#!/bin/sh
# A C program links with a shared C++ library, which alone needs the operators, with every linker.
#
# gold looks for the operators at this link, because of the wrappers.
. tests/lib.sh

# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -c -o "$W/program.o" tests/link/cxx_library.c ||
	fail "cannot compile the program"
g++ -O2 -fPIC -shared -o "$W/library.so" tests/link/cxx_library.cpp ||
	fail "cannot build the library"

for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	case $linker in gold) libraries=LEAKWRAP_CXX_LDLIBS ;; *) libraries=LEAKWRAP_LDLIBS ;; esac
	# shellcheck disable=SC2046 # lists of flags
	$CC -fuse-ld=$linker -o "$W/program" "$W/program.o" "$W/library.so" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS $libraries) ||
		fail "$linker: does not link"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/program"
	equal "$linker: exit status" $? 40
	equal "$linker: the leak" "$(site_by "$W/log" 1 main)" "300 1"
done
