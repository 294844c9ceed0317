#!/bin/sh
# leakwrap cc keeps a shared allocator that the program is linked with, as the untraced link does:
# also with --as-needed, and with each linker.
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/allocator.c" <<'END'
#include <stddef.h>
#include <string.h>
static _Alignas(16) char memory[1 << 22];
static size_t used;
int allocator_calls;
void *malloc(size_t size)
{
	size_t *block = (size_t *)(memory + used);
	used += (size + 31) / 16 * 16;
	allocator_calls++;
	*block = size;
	return block + 2;
}
void free(void *block) { (void)block; }
size_t malloc_usable_size(void *block) { return block ? ((size_t *)block)[-2] : 0; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size)
{
	void *moved = malloc(size);
	return block ? memcpy(moved, block, ((size_t *)block)[-2]) : moved;
}
END
cat >"$W/main.c" <<'END'
#include <dlfcn.h>
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) static void leak(void)
{
	kept = malloc(77);
	__asm__ volatile("");
}
int main(void)
{
	int *calls = dlsym(RTLD_DEFAULT, "allocator_calls");
	leak();
	return calls && *calls > 0 ? 3 : 4;
}
END
$CC -shared -fPIC -fno-builtin -Wl,-soname,liballocator.so -o "$W/liballocator.so" \
	"$W/allocator.c" || fail "allocator"
$CC -D_GNU_SOURCE -O1 -c -o "$W/main.o" "$W/main.c" || fail "main"

for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	echo "main.o -L. -lallocator" >"$W/words"
	for words in "main.o -L. -lallocator" "main.o ./liballocator.so" @words; do
		what="$linker, $words"
		# shellcheck disable=SC2086 # words
		(cd "$W" && "$lw" cc -- "$CC" -fuse-ld=$linker -Wl,--as-needed -o app $words \
			-Wl,-rpath,"$W") 2>"$W/errors" || fail "$what: $(tail -n 3 "$W/errors")"
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log "$W/app"
		equal "$what: its own allocator" $? 3
		equal "$what: leak" "$(site_by "$W/log" 1 leak)" "77 1"
	done
done
