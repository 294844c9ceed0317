#!/bin/sh
# In a C++ program a failing operator new throws: torture finds an exception that leaks memory and
# an exception that nobody catches.
. tests/lib.sh
. tests/tool/tool.sh

# build_cxx NAME FLAG... -- VARIABLE: builds $W/NAME with the libraries of VARIABLE.
# shellcheck disable=SC2046,SC2086 # lists of flags
build_cxx() {
	$(cxx_of "$CC") -std=gnu++17 -O1 -g -Wall -Wextra -Werror -o "$W/$1" $2 \
		tests/torture/cxx.cpp $(leakwrap_flags LEAKWRAP_LDFLAGS "$3") ||
		fail "cannot build $1"
}
build_cxx cxx -static-libstdc++ LEAKWRAP_CXX_STATIC_LDLIBS
build_cxx cxx-static -static LEAKWRAP_CXX_LDLIBS

for program in cxx cxx-static; do
	"$W/$program" 2>"$W/log" || fail "$program: status $?"
	status_is 0 "$lw" torture -- "$W/$program"
	shows '^  0 findings$'
	sites=$(sed -n 's/^  \([0-9]*\) failures tried.*/\1/p' "$W/out")
	[ "$sites" -ge 7 ] || fail "$program: only $sites call sites"

	# operator new[] calls operator new: one allocation, and no call site of the tracer's own.
	LEAKWRAP_OPTIONS=fail=list "$W/$program" 2>"$W/log" || fail "$program: status $?"
	equal "$program: the tracer's frames" "$(grep -c ' leakwrap_' "$W/log")" 0

	status_is 1 "$lw" torture -- "$W/$program" leak
	shows '^  1 finding$'
	shows '^  #1 leak of 200 bytes in 1 block$'
	grep -A 2 '^  #1' "$W/out" | grep -q 'pair_of_arrays::pair_of_arrays.*cxx.cpp:' ||
		fail "$(cat "$W/out")"

	status_is 1 "$lw" torture --limit=1 -- "$W/$program" throw
	shows '^  #1 abort$'
	shows "^      work[( ]"
done
