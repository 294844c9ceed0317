#!/bin/sh
# Every block is recorded with jemalloc, tcmalloc and mimalloc, and none is taken for misused.
#
# The allocator is an archive, in a static program too, or a shared library. It may pack blocks
# beside any others. Only glibc's own blocks are known to lie apart. Another allocator's are not,
# even if it has malloc_trim and __libc_malloc, too.
. tests/lib.sh

# check NAME ALLOCATOR FLAG...: builds the program with the allocator, runs it, and compares the
# dump.
check() {
	name=$1 allocator=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$CC $CFLAGS_FOR_TESTS -o "$W/$name" tests/link/allocators.c "$@" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS $libraries) \
		-pthread || fail "cannot build $name"
	LEAKWRAP_OPTIONS=log="$W/$name.log" "$W/$name" >"$W/$name.out" || fail "$name: status $?"
	read -r has lie bytes blocks <"$W/$name.out"
	equal "$name: allocator" "$has" "$allocator"
	case $allocator in libc) expected=apart ;; *) expected=close ;; esac
	equal "$name: its blocks" "$lie" "$expected"
	[ "$blocks" -gt 300 ] || fail "$name: $blocks blocks"
	dumps=$(dumps "$W/$name.log" | wc -l)
	equal "$name: dumps" "$dumps" 5
	equal "$name: live" "$(site_through "$W/$name.log" 5 work)" "$bytes $blocks"
	for key in untracked_blocks freed_elsewhere_blocks; do
		equal "$name: $key" "$(dump_value "$W/$name.log" 5 $key)" 0
	done
	LEAKWRAP_OPTIONS=exit=0:misuse=abort "$W/$name" >"$W/$name.out" 2>"$W/$name.misuse" ||
		fail "$name, misuse=abort: status $?"
	equal "$name: misuse" "$(grep -c ' misuse ' "$W/$name.misuse")" 0
}

archive() {
	$CC -print-file-name="$1" | grep / || :
}

left_out='' libraries=LEAKWRAP_LDLIBS
jemalloc=$(archive libjemalloc.a)
tcmalloc=$(archive libtcmalloc_minimal.a)
if [ -n "$jemalloc" ]; then
	check jemalloc jemalloc "$jemalloc" -lm
	check jemalloc-static jemalloc -static "$jemalloc" -lm
else
	left_out="$left_out libjemalloc.a"
fi
if [ -n "$tcmalloc" ]; then
	check tcmalloc tcmalloc "$tcmalloc" -lstdc++ -lm
	libraries=LEAKWRAP_CXX_LDLIBS
	check tcmalloc-static tcmalloc -static "$tcmalloc" -lstdc++ -lm
	libraries=LEAKWRAP_LDLIBS
else
	left_out="$left_out libtcmalloc_minimal.a"
fi
for library in jemalloc tcmalloc_minimal mimalloc; do
	if [ -n "$(archive lib$library.so)" ]; then
		for pie in pie no-pie; do
			check "$library-shared-$pie" "${library%_minimal}" "-$pie" \
				-Wl,--no-as-needed -l$library
		done
	else
		left_out="$left_out lib$library.so"
	fi
done

# A shared library's operator new is that of the allocator, which does not call malloc: the dump
# names the library, and its memory may hold pointers.
cat >"$W/holds.cpp" <<'END'
struct Holder {
	void *held;
	char padding[56];
};
static Holder *volatile holders[200];
extern "C" void hold(int at, void *block)
{
	holders[at] = new Holder();
	holders[at]->held = block;
}
END
cat >"$W/held.c" <<'END'
#include <stdlib.h>
void hold(int at, void *block);
int main(void)
{
	for (int i = 0; i < 200; i++)
		hold(i, malloc(64));
	return 0;
}
END
$(cxx_of "$CC") -O1 -fPIC -shared -o "$W/libholds.so" "$W/holds.cpp" || fail "cannot build libholds"
for library in jemalloc tcmalloc_minimal mimalloc; do
	[ -n "$(archive lib$library.so)" ] || continue
	# shellcheck disable=SC2046 # a list of flags
	$CC -o "$W/held" "$W/held.c" -L"$W" -lholds -Wl,-rpath,"$W" -Wl,--no-as-needed \
		-l$library $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) ||
		fail "cannot link with $library"
	LEAKWRAP_OPTIONS="log=$W/held.$library" "$W/held" || fail "held, $library: status $?"
	grep -q "\] bypass bound path=$W/libholds.so" "$W/held.$library" ||
		fail "$library: the library is not named"
	equal "$library: lost" "$(dump_value "$W/held.$library" 1 definite_blocks)" 0
done
# shellcheck disable=SC2086 # a list of flags
$CC $CFLAGS_FOR_TESTS -c -o "$W/dense_malloc.o" tests/link/dense_malloc.c ||
	fail "cannot compile dense_malloc.c"
ar rcs "$W/libdense.a" "$W/dense_malloc.o"
check dense dense "$W/libdense.a"
check dense-static dense -static "$W/libdense.a"
check libc libc
check libc-no-pie libc -no-pie
check libc-static libc -static
check libc-static-pie libc -static-pie
[ -z "$left_out" ] || skip "not installed:$left_out"
