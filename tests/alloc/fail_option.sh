#!/bin/sh
# The option fail= makes the allocations fail that it names: by number, at random by a seed, at a
# call site, below a function or module, of a size; and all that follow.
. tests/lib.sh

build failing tests/alloc/fail_option.c
build failing-static -static tests/alloc/fail_option.c

# run RULE: runs $program. $out gets what failed.
run() {
	LEAKWRAP_OPTIONS=system=0:fail=$1 "$program" 2>"$W/log" >"$W/out" || fail "$1: status $?"
	out=$(tr '\n' ' ' <"$W/out")
}

# failures RULE WANTED: with RULE exactly WANTED fails, and the dump counts it.
failures() {
	run "$1"
	equal "$1" "$out" "$2"
	equal "$1: the dump's count" "$(dump_value "$W/log" 1 failures)" \
		"$(grep -c . "$W/out" | sed 's/^0$//')"
}

# identity FUNCTION: prints the identity of the call site that the last run with fail=list reached.
identity() {
	dump_lines "$W/log" 1 | grep -B 1 "#0 .* $1+" | sed -n 's/^reached .* identity=0x//p'
}

for program in "$W/failing" "$W/failing-static"; do
	own='below=round_*'
	failures off ''
	failures "nth=1,$own" 'small 1 '
	failures "nth=5,$own" 'text 2 '
	failures "nth=99,$own" ''
	failures "nth=5,below=small" 'small 5 '
	failures "nth=14,sticky,$own" 'text 5 large 5 small 6 text 6 large 6 '
	failures "nth=2,size=1000-,$own" 'large 2 '
	failures "nth=2,size=-10,below=small" 'small 2 '
	failures "nth=2,size=11-4999,below=small" ''
	failures "nth=2,below=nothing*" ''

	run list
	equal "list: nothing fails" "$out" ''
	wanted=$(identity text)
	failures "site=$wanted,hit=3" 'text 3 '
	failures "site=0x$wanted" 'text 1 '
	# Another run has other addresses, and the same identities.
	run list
	equal "identity in another run" "$(identity text)" "$wanted"
	dump_lines "$W/log" 1 | grep -A 1 "identity=0x$(identity large)" >"$W/reached"
	grep -q '^reached [0-9]*: hits=6 bytes=5000 ' "$W/reached" || fail "$(cat "$W/reached")"

	# The same seed fails the same allocations.
	run "rate=3,seed=1,$own"
	first=$out
	[ -n "$first" ] || fail "rate=3: nothing failed"
	failures "rate=3,seed=1,$own" "$first"
	run "rate=3,seed=2,$own"
	[ "$out" != "$first" ] || fail "seed=2 fails what seed=1 fails: $out"
	failures "rate=1,below=small" 'small 1 small 2 small 3 small 4 small 5 small 6 '
done

# A module's name.  In the static program the C library would not even start.
program=$W/failing
run rate=1,below=failing
equal "below a module" "$(echo "$out" | wc -w)" 36

for bad in '' nth nth=0 nth=x nth=1,rate=2 rate=0 site=xyz site=0x hit=2 sticky seed=1 size=5 \
	nth=1,size=9-3 nth=1,size=- nth=1,below= "nth=1,below=$(printf %0128d 0)" \
	nth=18446744073709551617; do
	run "$bad"
	equal "fail=$bad" "$out $(grep -c 'cannot be used' "$W/log")" ' 1'
done

# Each function that a shared library calls fails, too.
cat >"$W/library.c" <<'END'
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

int count_failures(void)
{
	void *block = NULL;

	return !malloc(10) + !calloc(1, 10) + !realloc(NULL, 10) + !reallocarray(NULL, 1, 10) +
	       !aligned_alloc(64, 128) + !memalign(64, 10) + !valloc(10) + !pvalloc(10) +
	       (posix_memalign(&block, 64, 10) != 0) + !strdup("text");
}
END
$CC -g -O1 -fno-builtin -w -shared -fPIC -o "$W/libasks.so" "$W/library.c" || fail "no library"
echo 'int count_failures(void); int main(void) { return count_failures(); }' >"$W/asks.c"
build asks -w "$W/asks.c" -L"$W" -lasks -Wl,-rpath,"$W"
LEAKWRAP_OPTIONS=fail=rate=1,below=count_failures:exit=0 "$W/asks" 2>"$W/log"
equal "failures in a library" $? 10
