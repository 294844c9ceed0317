#!/bin/sh
# leakwrap audit finds allocators of other names that nobody wraps, and libraries that allocate.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
export XDG_CACHE_HOME="$W/cache" LEAKWRAP_LIB="$O/libleakwrap.a"

# One allocator takes memory from the system, one wraps malloc, and one is a pool in static memory.
cat >"$W/vendor.c" <<'END'
#include <stdlib.h>
#include <sys/mman.h>
static char *at, *end;
static __attribute__((noinline)) void more(void)
{
	at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		abort();
	end = at + (1 << 20);
}
__attribute__((noinline)) void *vnd_malloc(size_t size)
{
	if (size > (size_t)(end - at))
		more();
	return (at += size) - size;
}
void vnd_free(void *block) { (void)block; }
void *xmalloc(size_t size) { void *block = malloc(size); return block ? block : (abort(), NULL); }
void xfree(void *block) { free(block); }
static char arena[4096];
void *pool_alloc(size_t size) { static size_t used; used += size; return arena + used - size; }
void pool_free(void *block) { (void)block; }
END
cat >"$W/user.c" <<'END'
#include <stdlib.h>
void *vnd_malloc(size_t), *xmalloc(size_t), *pool_alloc(size_t);
void vnd_free(void *), xfree(void *), pool_free(void *);
void *volatile kept;
int main(void)
{
	kept = vnd_malloc(10); vnd_free(kept);
	kept = xmalloc(10); xfree(kept);
	kept = pool_alloc(10); pool_free(kept);
	return 0;
}
END
$CC -O1 -c -o "$W/vendor.o" "$W/vendor.c" || fail "cannot compile"
$CC -O1 -c -o "$W/user.o" "$W/user.c" || fail "cannot compile"

for kind in -pie -static; do
	"$lw" cc -- "$CC" $kind -o "$W/app" "$W/user.o" "$W/vendor.o" || fail "$kind: does not link"
	status_is 1 "$lw" audit --strict "$W/app"
	shows '^escape: vnd_malloc and vnd_free are an allocator that is not wrapped$'
	shows 'mend: leakwrap cc --allocator=vnd_; in make LEAKWRAP_ALLOCATORS := vnd_$'
	shows '^note: pool_alloc and pool_free look like an allocator$'
	advice='malloc=pool_alloc(PARAMETERS),free=pool_free(PARAMETERS)'
	shows "mend: leakwrap cc --allocator='$advice'\$"
	shows_not 'xmalloc'
	# This advice mends it.
	"$lw" cc --allocator='vnd_ malloc=pool_alloc(size) free=pool_free(block)' -- "$CC" $kind \
		-o "$W/app" "$W/user.o" "$W/vendor.o" || fail "$kind: does not link"
	status_is 0 "$lw" audit --strict "$W/app"
	shows_not 'an allocator'
done

# audit names a library that allocates, whatever it is.
library=$($CC -print-file-name=libsqlite3.so)
[ -e "$library" ] || skip "libsqlite3 is not installed"
echo 'int sqlite3_initialize(void); int main(void) { return sqlite3_initialize(); }' >"$W/library.c"
"$lw" cc --program-only -- "$CC" -o "$W/app" "$W/library.c" -lsqlite3 -lm || fail "does not link"
status_is 0 "$lw" audit --strict "$W/app"
shows 'shared libraries allocate by themselves: libsqlite3\.so'
