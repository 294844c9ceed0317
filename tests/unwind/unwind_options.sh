#!/bin/sh
# unwind=table follows tables alone; unwind=auto goes on by frame pointers; where both can, they
# agree.
. tests/lib.sh

# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -fno-asynchronous-unwind-tables -fno-unwind-tables -c -o "$W/bare.o" \
	tests/unwind/unwind_options_bare.c ||
	fail "cannot build bare.o"
build ways tests/unwind/unwind_options.c "$W/bare.o"
for way in auto table; do
	LEAKWRAP_OPTIONS=unwind=$way "$W/ways" 2>"$W/$way" || fail "$way: status $?"
done
dump_sites "$W/auto" 1 | grep -q '^11 1 complete leak;bare;main;' ||
	fail "auto: $(dump_sites "$W/auto" 1)"
equal table "$(dump_sites "$W/table" 1)" "11 1 truncated leak;bare;"

# A program gives the same call sites with and without frame pointers. By frame pointers alone it
# gives the same frames as far as they go. The C++ library has no frame pointers, so its own calls
# are left out.
# shellcheck disable=SC2046,SC2086 # lists of flags
for level in -O0 -O2; do
	for pointer in -fno-omit-frame-pointer -fomit-frame-pointer; do
		g++ -std=c++17 $level $pointer -Wall -Wextra -I. -Iwrap -o "$W/program" \
			tests/unwind/relinked.cpp -pthread \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_PROGRAM_LDLIBS) ||
			fail "cannot build with $level $pointer"
		for way in auto fp; do
			LEAKWRAP_OPTIONS=exit=0:depth=256:unwind=$way "$W/program" all 0 \
				2>"$W/log" || fail "status $?"
			dump_sites "$W/log" 1 | sort >"$W/$way$pointer"
		done
	done
	[ "$(wc -l <"$W/auto-fomit-frame-pointer")" -gt 15 ] || fail "$level: too few call sites"
	diff "$W/auto-fno-omit-frame-pointer" "$W/auto-fomit-frame-pointer" >"$W/diff" ||
		fail "$level: $(head "$W/diff")"
	awk '
		NR == FNR { chains = chains "\n" $4; next }
		!index(chains, "\n" $4) { print "no such call site: " $0; wrong = 1 }
		$4 ~ /;main;/ { reached++ }
		END { exit wrong || !reached }' \
		"$W/auto-fno-omit-frame-pointer" "$W/fp-fno-omit-frame-pointer" >"$W/diff" ||
		fail "$level, by frame pointers: $(head "$W/diff")"
	echo "$level: $(wc -l <"$W/auto-fomit-frame-pointer") call sites," \
		"$(grep -c ';main;' "$W/fp-fno-omit-frame-pointer")" \
		"of them by frame pointers as far as main"
done
