#!/bin/sh
# A CMake project relinks without an edit, through CMAKE_C_LINKER_LAUNCHER.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need cmake

mkdir "$W/project" "$W/build" || fail "cannot make $W/project"
cat >"$W/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.21)
project(leaks C CXX)
add_library(part STATIC part.c)
add_library(shared SHARED part.c)
add_executable(in_c main.c)
target_link_libraries(in_c part)
add_executable(in_cxx main.cc)
END
echo '#include <stdlib.h>
void *volatile kept; void part(void) { kept = malloc(31); }' >"$W/project/part.c"
echo 'void part(void); int main(void) { part(); return 0; }' >"$W/project/main.c"
echo 'int *volatile kept; int main() { kept = new int[10]; return 0; }' >"$W/project/main.cc"

LEAKWRAP_LIB="$O/libleakwrap.a" XDG_CACHE_HOME="$W/cache"
export LEAKWRAP_LIB XDG_CACHE_HOME
launcher="$lw;cc;--options=exit=0;--"
(
	unset MAKEFLAGS MFLAGS MAKELEVEL
	cmake -S "$W/project" -B "$W/build" -DCMAKE_C_LINKER_LAUNCHER="$launcher" \
		-DCMAKE_CXX_LINKER_LAUNCHER="$launcher" && cmake --build "$W/build"
) >"$W/out" 2>&1 || fail "$(tail -n 5 "$W/out")"
for program in in_c:part:31 in_cxx:main:40; do
	name=${program%%:*} bytes=${program##*:} function=${program#*:}
	LEAKWRAP_OPTIONS=exit=1:log=$W/log.$name "$W/build/$name" || fail "$name: status $?"
	equal "$name" "$(site_by "$W/log.$name" 1 "${function%:*}")" "$bytes 1"
done
