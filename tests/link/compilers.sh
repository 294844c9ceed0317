#!/bin/sh
# Another compiler in the same build folder builds everything again; the same compiler builds
# nothing.
. tests/lib.sh

command -v clang >"$W/which" 2>&1 || skip "no clang"
object=$W/build/entry/malloc/free.o

# compiled_by COMPILER: fails unless COMPILER made the object.
compiled_by() {
	(
		unset MAKEFLAGS MFLAGS MAKELEVEL
		make O="$W/build" CC="$1" "$object" >"$W/make.out" 2>&1
	) || fail "make CC=$1: $(cat "$W/make.out")"
	case $(readelf -p .comment "$object") in
	*clang*) got=clang ;;
	*GCC*) got=gcc ;;
	*) got=neither ;;
	esac
	equal "make CC=$1" "$got" "$1"
}

compiled_by gcc
compiled_by clang
compiled_by gcc
made=$(stat -c %y "$object")
compiled_by gcc
equal "made by the same compiler" "$(stat -c %y "$object")" "$made"
