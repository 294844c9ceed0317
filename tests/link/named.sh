#!/bin/sh
# Allocators of another name are wrapped if the link names them.
#
# The link is made by make, leakwrap cc or leakwrap flags, with every linker, and at an installed
# prefix.
# timeout: 300
. tests/lib.sh

ROOT=$PWD
LIST='my_ malloc=pool_alloc(pool,uint16_t:size) free=pool_free(pool,block)'
LIST="$LIST malloc=message_get(pool,size=48)"
OPTIONS="-std=gnu11 -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin"
export XDG_CACHE_HOME="$W/cache"
export LEAKWRAP_LIB="$O/libleakwrap.a"
lw=$O/leakwrap

# shellcheck disable=SC2086 # a list of flags
{
	$CC $OPTIONS -c -o "$W/named.o" tests/link/named.c &&
		$CC $OPTIONS -c -o "$W/vendor.o" tests/link/named_vendor.c
} || fail "cannot compile"
ar rcs "$W/vendor.a" "$W/vendor.o"

# told WHAT PROGRAM: runs PROGRAM, and compares its dump with the leaks that it prints.
told() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$2" >"$W/leaks" || fail "$1: status $?"
	while read -r function bytes blocks; do
		equal "$1: $function" "$(site_by "$W/log" 1 "$function")" "$bytes $blocks"
	done <"$W/leaks"
	equal "$1: foreign frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
	equal "$1: of the allocators themselves" "$(site_by "$W/log" 1 pool_alloc)" "0 0"
}

# -- make, with every linker

makefile() {
	printf '%s\n' "LEAKWRAP_ALLOCATORS := $LIST" "include $1" \
		"app: $W/named.o $W/vendor.a \$(LEAKWRAP_LINK_LIB)" \
		"	\$(CC) \$(HOW) -o \$@ \$^ \$(LEAKWRAP_LDFLAGS) \$(MORE) \$(LEAKWRAP_LDLIBS)"
}
run_make() {
	(
		unset MAKEFLAGS MFLAGS MAKELEVEL
		make -s "$@" >"$W/make.out" 2>&1
	)
}
makefile "$ROOT/linker-flags.mk" >"$W/Makefile"
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	for kind in -pie -static; do
		more=
		# shellcheck disable=SC2016 # for make
		[ $linker$kind != lld-static ] || more='$(LEAKWRAP_LLD_LDFLAGS)'
		rm -f "$W/app"
		run_make -C "$W" CC="$CC" HOW="-fuse-ld=$linker $kind -no-pie" MORE="$more" ||
			fail "$linker $kind: $(tail -n 5 "$W/make.out")"
		told "$linker $kind" "$W/app"
	done
done

# Another list makes the wrappers anew.
sed 's/^LEAKWRAP_ALLOCATORS := my_/& malloc=no_such/' "$W/Makefile" >"$W/Makefile.2"
rm -f "$W/app"
run_make -C "$W" -f Makefile.2 CC="$CC" || fail "another list: $(tail -n 5 "$W/make.out")"
grep -q no_such "$W/leakwrap-link.flags" || fail "the list has changed, and the wrappers have not"

# -- misuse, in a static program, where the tracer sees everything

rm -f "$W/app"
run_make -C "$W" CC="$CC" HOW=-static || fail "$(tail -n 5 "$W/make.out")"
for what in mixed twice; do
	rm -f "$W/log"
	# glibc itself ends a program that frees such a block.
	LEAKWRAP_OPTIONS=log=$W/log:misuse=report "$W/app" $what >"$W/out" 2>&1
	case $what in mixed) word=mismatch ;; twice) word=double_free ;; esac
	grep -q "misuse $word" "$W/log" || fail "$what is not reported: $(grep misuse "$W/log")"
	equal "$what: reports" "$(grep -c 'reason=misuse' "$W/log")" 1
done
rm -f "$W/log"
LEAKWRAP_OPTIONS=log=$W/log:misuse=report "$W/app" >"$W/out" 2>&1 ||
	fail "with misuse=report: status $?"
equal "misuse that is none" "$(grep -c 'reason=misuse' "$W/log")" 0

# -- failures: functions of another name fail, and what they allocate for themselves does not

# fails NTH FUNCTION LEFT: FUNCTION keeps the bytes and blocks LEFT if its allocation NTH fails.
fails() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log:fail=nth=$1,below=$2 "$W/app" >"$W/out" 2>&1 ||
		fail "with failures: status $?"
	equal "failures in $2" "$(dump_value "$W/log" 1 failures)" 1
	equal "left by $2" "$(site_by "$W/log" 1 "$2")" "$3"
}
fails 1 by_calloc '0 0'
fails 1 by_aligned '0 0'
fails 1 by_fixed '0 0'
fails 5 by_malloc '400 4'
fails 2 by_realloc '10 1'

# -- the tool

"$lw" cc --allocator="$LIST" -- "$CC" -o "$W/app" "$W/named.o" "$W/vendor.a" || fail "leakwrap cc"
told "leakwrap cc" "$W/app"
"$lw" flags --allocator="$LIST" --output="$W/trace" -- "$CC" || fail "leakwrap flags"
"$CC" -o "$W/app" "$W/named.o" "$W/vendor.a" "@$W/trace" || fail "with a response file"
told "leakwrap flags -o" "$W/app"
# shellcheck disable=SC2046 # a list of flags
"$CC" -o "$W/app" "$W/named.o" "$W/vendor.a" \
	$("$lw" flags --allocator="$LIST" -- "$CC") || fail "with flags"
told "leakwrap flags" "$W/app"

# The allocator of a shared library, with linkers that drop libraries to which nothing refers.
# shellcheck disable=SC2086 # a list of flags
$CC $OPTIONS -fPIC -shared -o "$W/libvendor.so" tests/link/named_vendor.c || fail "shared vendor"
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || continue
	for words in "-L$W -lvendor" "$W/libvendor.so" \
		"-Wl,--whole-archive $W/vendor.a -Wl,--no-whole-archive"; do
		# shellcheck disable=SC2086 # words
		"$lw" cc --allocator="$LIST" -- "$CC" -fuse-ld=$linker -Wl,--as-needed -o "$W/app" \
			"$W/named.o" $words -Wl,-rpath,"$W" 2>"$W/errors" ||
			fail "$linker, $words: $(tail -n 3 "$W/errors")"
		told "$linker, $words" "$W/app"
	done
done

# -- a C++ program, by the C++ compiler; an exception ends the call of the allocator
cat >"$W/exception.cpp" <<'END'
#include <cstdlib>
extern "C" void *pool_alloc(int, std::size_t);
void *volatile kept;
static __attribute__((noinline)) void after() { kept = std::malloc(77); }
static __attribute__((noinline)) void by_pool() { kept = pool_alloc(1, 44); }
int main()
{
	try { kept = pool_alloc(1, 5000); } catch (int) { }
	after();
	by_pool();
	return 0;
}
END
cat >"$W/thrower.cpp" <<'END'
#include <cstdlib>
extern "C" void *pool_alloc(int, std::size_t size)
{
	if (size > 4096)
		throw 1;
	static char *chunk = static_cast<char *>(std::malloc(100)) + 32;
	return chunk;
}
END
for kind in -pie -static; do
	# shellcheck disable=SC2086 # a list of flags
	"$lw" cc --allocator='malloc=pool_alloc(int:which,size)' -- \
		g++ $kind -O1 -fno-builtin -fno-optimize-sibling-calls \
		-o "$W/app" "$W/exception.cpp" "$W/thrower.cpp" || fail "C++ $kind"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/app" || fail "C++ $kind: status $?"
	for what in "after the exception:77" "by the pool:44"; do
		site="^site .*: ${what#*:} bytes in 1 block"
		equal "C++ $kind: ${what%:*}" "$(dump_lines "$W/log" 1 | grep -c "$site")" 1
	done
	# The C library may have a block of that size.
	equal "C++ $kind: its chunk" \
		"$(dump_lines "$W/log" 1 | grep '^site .*: 100 bytes' | grep -vc origin=)" 0
done

# -- an installed prefix

unset LEAKWRAP_LIB
run_make O="$O" CC="$CC" PREFIX="$W/prefix" install || fail "make install: $(cat "$W/make.out")"
makefile "$W/prefix/share/leakwrap/linker-flags.mk" |
	sed 's/(LEAKWRAP_LDFLAGS)/(LEAKWRAP_SHORT_LDFLAGS)/' >"$W/Makefile"
rm -f "$W/app"
run_make -C "$W" CC="$CC" || fail "installed: $(tail -n 5 "$W/make.out")"
told "installed" "$W/app"
"$W/prefix/bin/leakwrap" cc --allocator="$LIST" -- "$CC" -o "$W/app" "$W/named.o" \
	"$W/vendor.a" || fail "installed leakwrap cc"
told "installed leakwrap cc" "$W/app"

# -- a wrong allocator is refused with one line

# refused WORDS LINE...: leakwrap refuses the option WORDS with one line: LINE..., with spaces
# between.
refused() {
	words=$1
	shift
	"$lw" cc "$words" -- "$CC" -o "$W/none" "$W/named.o" "$W/vendor.a" 2>"$W/err"
	equal "status of $words" $? 2
	equal "$words" "$(cat "$W/err")" "leakwrap: $*"
	[ ! -e "$W/none" ] || fail "$words: linked"
}
export LEAKWRAP_LIB="$O/libleakwrap.a"
refused "--allocator=strdup=f" \
	"allocator 'strdup=f': there is no shape 'strdup';" \
	"malloc, calloc, realloc, memalign, posix_memalign and free are some"
refused "--allocator=malloc=f(pool)" \
	"allocator 'malloc=f(pool)': no parameter is called size;" \
	"write size=NUMBER when all blocks have one size"
"$lw" cc "--allocator=malloc=f(no_type:size)" -- "$CC" -o "$W/none" "$W/named.o" \
	2>"$W/err" && fail "no_type is taken"
equal "lines for a type that is none" "$(grep -c . "$W/err")" 1
refused "--allocator=free=f(pool)" "allocator 'free=f(pool)': no parameter is called block"
refused "--allocator=f(size)" \
	"allocator 'f(size)': what it is like is missing; SHAPE=NAME(PARAMETERS) says it"
refused "--allocator=exported:je_" \
	"allocator 'je_': only a function is exported; exported:malloc=je_malloc names one"
refused "--allocator=malloc=f(result,size)" \
	"allocator 'malloc=f(result,size)': result is a parameter of posix_memalign alone;" \
	"write posix_memalign=NAME(PARAMETERS) for a function that stores the block's address"
