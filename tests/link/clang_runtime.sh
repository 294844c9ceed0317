#!/bin/sh
# The tracer that clang has compiled: each linker links it, and the programs start and find their
# leaks.  It touches as much of a stack as clang's code uses.
# timeout: 300
. tests/lib.sh

command -v clang >"$W/which" 2>&1 || skip "no clang"
cat >"$W/leak.c" <<'END'
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) static void leak(void)
{
	kept = malloc(77);
	__asm__ volatile("");
}
int main(void) { leak(); return 3; }
END
runtime clang CC=clang
O=${lib%/*}
for linker in bfd gold lld mold; do
	command -v ld.$linker >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	for kind in '' -no-pie -static -static-pie; do
		more=
		[ "$kind" != -static-pie ] || ! lacks_static_pie "$CC" $linker || continue
		case $linker$kind in lld-static*) more=LEAKWRAP_LLD_LDFLAGS ;; esac
		rm -f "$W/leak" # mold would leave parts of it in the new file
		# shellcheck disable=SC2046,SC2086 # flags
		$CC -O1 -fno-builtin $kind -fuse-ld=$linker -o "$W/leak" "$W/leak.c" \
			$(leakwrap_flags LEAKWRAP_LDFLAGS $more LEAKWRAP_LDLIBS) -pthread \
			2>"$W/errors" ||
			fail "$linker $kind: does not link: $(tail -n 5 "$W/errors")"
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log "$W/leak"
		equal "$linker $kind: exit status" $? 3
		equal "$linker $kind: leak" "$(site_by "$W/log" 1 leak)" "77 1"
	done
done

# A stack that overflows inside the tracer is a fault that the program's handler gets.  Signals are
# blocked only where the stack has been touched as far as clang's code uses it.
# shellcheck disable=SC2046 # flags
clang -O2 -D_GNU_SOURCE -fno-builtin -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-o "$W/overflowing" tests/signal/overflowing_coroutine.c \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) || fail "overflowing does not link"
spare=0
while [ $spare -lt 400 ]; do
	"$W/overflowing" $spare handle >"$W/out" 2>&1
	equal "overflow, $spare: status" $? 3
	spare=$((spare + 5))
done

# What clang's runtime records of itself suits other compilers.
for compiler in gcc clang; do
	for words in --options=exit=0 --allocator=malloc=f; do
		sh "$O/generator/generate.sh" --output="$W/made" $words -- $compiler ||
			fail "$compiler $words: not generated"
	done
done
