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

# mold makes all functions local.
for kind in -pie -static "-pie -fuse-ld=mold" "-static -fuse-ld=mold"; do
	case $kind in
	*mold) command -v mold >"$W/which" || continue ;;
	esac
	# shellcheck disable=SC2086 # flags
	"$lw" cc -- "$CC" $kind -o "$W/app" "$W/user.o" "$W/vendor.o" || fail "$kind: does not link"
	status_is 1 "$lw" audit --strict "$W/app"
	shows '^escape: vnd_malloc and vnd_free are an allocator that is not wrapped$'
	shows "mend: leakwrap cc --allocator='vnd_' -- ...; in make LEAKWRAP_ALLOCATORS := vnd_\$"
	shows '^note: pool_alloc and pool_free look like an allocator$'
	advice='malloc=pool_alloc(PARAMETERS),free=pool_free(PARAMETERS)'
	shows "mend: leakwrap cc --allocator='$advice' -- ...; in make .* := $advice\$"
	shows_not 'xmalloc'
	# This advice mends it.
	# shellcheck disable=SC2086 # flags
	"$lw" cc --allocator='vnd_ malloc=pool_alloc(size) free=pool_free(block)' -- "$CC" $kind \
		-o "$W/app" "$W/user.o" "$W/vendor.o" || fail "$kind: does not link"
	status_is 0 "$lw" audit --strict "$W/app"
	shows_not 'an allocator'
done

# A runtime gets each block from malloc, with or without a header in front. When malloc fails, it
# raises an exception, for which it takes memory from the system. The callers of the function that
# raises it do not hand out this memory: they are no allocators.
cat >"$W/runtime.c" <<'END'
#include <stdlib.h>
struct header { struct header *next, *previous; };
_Noreturn void rt_raise_out_of_memory(void);
static struct header *pool;
void rt_stat_create_pool(void)
{
	if (!(pool = malloc(sizeof *pool)))
		rt_raise_out_of_memory();
	pool->next = pool->previous = pool;
}
__attribute__((noinline)) void *rt_stat_alloc_or_null(size_t size)
{
	struct header *block = malloc(size + (pool ? sizeof *block : 0));
	if (!block || !pool)
		return block;
	*block = (struct header){pool->next, pool};
	pool->next->previous = block;
	pool->next = block;
	return block + 1;
}
void *rt_stat_alloc(size_t size)
{
	void *block = rt_stat_alloc_or_null(size);
	if (block || size == 0)
		return block;
	rt_raise_out_of_memory();
}
void rt_stat_free(void *pointer)
{
	struct header *block = pointer;
	if (pool && block--) {
		block->previous->next = block->next;
		block->next->previous = block->previous;
	}
	free(block);
}
END
cat >"$W/exception.c" <<'END'
#include <stdlib.h>
#include <sys/mman.h>
static __attribute__((noinline)) void *grow_heap(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
_Noreturn void rt_raise_out_of_memory(void)
{
	*(volatile char *)grow_heap(4096) = 1;
	abort();
}
END
cat >"$W/user.c" <<'END'
#include <stdlib.h>
void rt_stat_create_pool(void), *rt_stat_alloc(size_t), rt_stat_free(void *);
int main(int count, char **words)
{
	if (count > 1)
		rt_stat_create_pool();
	rt_stat_free(rt_stat_alloc(words[0][0]));
	return 0;
}
END
for name in runtime exception user; do
	$CC -O2 -c -o "$W/$name.o" "$W/$name.c" || fail "cannot compile"
done
ar rcs "$W/libruntime.a" "$W/runtime.o" "$W/exception.o" || fail "no archive"
for kind in -pie -static; do
	"$lw" cc -- "$CC" $kind -o "$W/app" "$W/user.o" "$W/libruntime.a" ||
		fail "$kind: does not link"
	status_is 0 "$lw" audit --strict "$W/app"
	shows_not rt_stat_alloc
done

# One takes memory from malloc and calls, when that fails, what may return and takes memory from the
# system: this is a note. One that takes memory from the system comes first, also behind many
# functions with such names.
{
	cat <<'END'
#include <stdlib.h>
#include <sys/mman.h>
static __attribute__((noinline)) void *more(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
int failures;
__attribute__((noinline)) void kit_error(void) { failures += more(4096) == MAP_FAILED; }
void *kit_malloc(size_t size)
{
	void *block = malloc(size);
	if (!block)
		kit_error();
	failures += !block;
	return block;
}
void kit_free(void *block) { free(block); }
END
	i=0
	while [ $((i += 1)) -le 40 ]; do
		echo "void *device${i}_alloc(size_t size) { return (char *)&failures + size; }"
		echo "void device${i}_free(void *block) { failures += !block; }"
	done
	echo 'void *vnd_malloc(size_t size) { return more(size); }'
	echo 'void vnd_free(void *block) { failures += !block; }'
	echo 'int main(void)'
	echo '{'
	while [ $((i -= 1)) -ge 1 ]; do
		echo "	device${i}_free(device${i}_alloc(1));"
	done
	echo '	kit_free(kit_malloc(10));'
	echo '	vnd_free(vnd_malloc(10));'
	echo '	return failures;'
	echo '}'
} >"$W/many.c"
for kind in -pie -static; do
	"$lw" cc -- "$CC" -O1 -fno-inline $kind -o "$W/app" "$W/many.c" ||
		fail "$kind: does not link"
	status_is 1 "$lw" audit --strict "$W/app"
	shows '^escape: vnd_malloc and vnd_free are an allocator that is not wrapped$'
	shows_not '^escape: kit_malloc'
	shows '^note: more than 16 functions look like an allocator$'
	shows ': 1 escape, 0 of quality, '
done

# A garbage collector releases without a call: its allocator is a note, and no advice traces it. The
# allocator by which jemalloc serves a C library that starts is not the program's.
cat >"$W/vendor.c" <<'END'
#include <stddef.h>
#include <sys/mman.h>
static __attribute__((noinline)) void *more(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
void *GC_malloc(size_t size) { return more(size); }
void GC_free(void *block) { (void)block; }
void GC_gcollect(void) {}
void *je_bootstrap_malloc(size_t size) { return more(size); }
void je_bootstrap_free(void *block) { (void)block; }
END
cat >"$W/user.c" <<'END'
#include <stddef.h>
void *GC_malloc(size_t), *je_bootstrap_malloc(size_t);
void GC_free(void *), je_bootstrap_free(void *);
int main(void)
{
	GC_free(GC_malloc(10));
	je_bootstrap_free(je_bootstrap_malloc(10));
	return 0;
}
END
for kind in -pie -static; do
	"$lw" cc -- "$CC" -O1 $kind -o "$W/app" "$W/user.c" "$W/vendor.c" ||
		fail "$kind: does not link"
	status_is 0 "$lw" audit --strict "$W/app"
	shows "^note: GC_malloc is a garbage collector's\$"
	shows_not 'mend: \|je_bootstrap'
done

# An allocator in a shared library is an escape where the program calls it without a wrapper. A
# library whose functions call malloc is seen.
cat >"$W/vendor.c" <<'END'
#include <stddef.h>
#include <sys/mman.h>
void *vnd_malloc(size_t size);
void vnd_free(void *block);
void *vnd_malloc(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
void vnd_free(void *block) { (void)block; }
END
cat >"$W/kit.c" <<'END'
#include <stdlib.h>
void *kit_malloc(size_t size);
void kit_free(void *block);
void *kit_malloc(size_t size) { return malloc(size); }
void kit_free(void *block) { free(block); }
END
cat >"$W/user.c" <<'END'
#include <stddef.h>
void *vnd_malloc(size_t), *kit_malloc(size_t);
void vnd_free(void *), kit_free(void *);
int main(void)
{
	vnd_free(vnd_malloc(10));
	kit_free(kit_malloc(10));
	return 0;
}
END
for name in vendor kit; do
	$CC -shared -fPIC -o "$W/lib$name.so" "$W/$name.c" || fail "$name: does not link"
done
for allocator in "" --allocator=vnd_; do
	# shellcheck disable=SC2086 # one or none
	"$lw" cc $allocator -- "$CC" -O1 -o "$W/app" "$W/user.c" -Wl,--no-as-needed -L"$W" \
		-lvendor -lkit -Wl,-rpath,"$W" || fail "does not link"
	if [ -z "$allocator" ]; then
		status_is 1 "$lw" audit --strict "$W/app"
		shows '^escape: vnd_malloc of libvendor.so is not wrapped$'
		shows "mend: leakwrap cc --allocator='vnd_' "
		shows ': 1 escape, 0 of quality, '
	else
		status_is 0 "$lw" audit --strict "$W/app"
	fi
done

# A shared library has an allocator of another name, which takes its blocks from that of a second
# library, and that one from malloc.  A third library calls the first one.
for name in inner outer user; do
	case $name in
	inner) text='void *malloc(unsigned long size);' from=malloc libraries='' ;;
	outer) text='void *inner_malloc(unsigned long size);' from=inner_malloc libraries=-linner ;;
	*) text='void *outer_malloc(unsigned long size);' from=outer_malloc libraries=-louter ;;
	esac
	echo "$text void *${name}_malloc(unsigned long size) { return $from(size); }
		void ${name}_free(void *block) { (void)block; }" >"$W/$name.c"
	# shellcheck disable=SC2086 # one or none
	build_plain "lib$name.so" -shared -fPIC "$W/$name.c" -L"$W" $libraries -Wl,-rpath,"$W"
done
echo 'void *user_malloc(unsigned long size); int main(void) { return !user_malloc(1); }' >"$W/app.c"
"$lw" cc -- "$CC" -o "$W/app" "$W/app.c" -L"$W" -luser -Wl,-rpath,"$W" || fail "does not link"
status_is 0 "$lw" audit --strict "$W/app"
shows_not 'outer_malloc'

# A collector's blocks are never freed by the program.
cat >"$W/collector.c" <<'END'
static char memory[64];
void *user_malloc(unsigned long size) { return size > sizeof memory ? (void *)0 : memory; }
void user_free(void *block) { (void)block; }
void GC_gcollect(void) { }
END
build_plain libuser.so -shared -fPIC "$W/collector.c"
"$lw" cc -- "$CC" -o "$W/app" "$W/app.c" -L"$W" -luser -Wl,-rpath,"$W" || fail "does not link"
status_is 0 "$lw" audit --strict "$W/app"
shows '^note: user_malloc of libuser.so collects garbage$'

# An allocator has a free, too.
sed -i '/_free\|gcollect/d' "$W/collector.c"
build_plain libuser.so -shared -fPIC "$W/collector.c"
status_is 0 "$lw" audit --strict "$W/app"
shows_not 'user_malloc'

# audit names a library that allocates, whatever it is.
library=$($CC -print-file-name=libsqlite3.so)
[ -e "$library" ] || skip "libsqlite3 is not installed"
echo 'int sqlite3_initialize(void); int main(void) { return sqlite3_initialize(); }' >"$W/library.c"
"$lw" cc --program-only -- "$CC" -o "$W/app" "$W/library.c" -lsqlite3 -lm || fail "does not link"
status_is 0 "$lw" audit --strict "$W/app"
shows 'shared libraries allocate by themselves: libsqlite3\.so'
