/* misuse.c - the checks of misuse.h: tables of freed blocks and of call sites, and the rules. */
#include "wrap/misuse/misuse.h"

#include "wrap/base/common.h"
#include "wrap/base/hash.h"
#include "wrap/unwind/read_set.h"
#include "wrap/live/fast.h"
#include "wrap/live/live.h"
#include "wrap/module/bypass.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/loaded.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"
#include "wrap/base/options.h"
#include "wrap/port/port.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_table.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/unwind/unwind.h"

#include <stdlib.h>

/* A block that was released and not allocated since.  The table is indexed by the address's hash.
 * It is lossy: a newer block overwrites an older block.  Entries stand in the order of their first
 * use, so that few releases write to few pages: after a fork each such page is copied.  ADDRESS is
 * 0 in an empty entry, and BUSY while a thread writes the entry.  A thread that never finishes
 * writing loses one entry. */
struct freed_block {
	_Atomic uintptr_t address;
	size_t size;
	uint32_t allocated, released; /* call sites */
};

#define FREED_BITS 14
#define FREED      ((size_t)1 << FREED_BITS)
#define BUSY       ((uintptr_t)1) /* no block starts at an odd address */

/* The bits of a call site: the families of blocks it has allocated, and its misuse that has been
 * reported. */
#define ALLOCATES(family) (1u << (family))
#define REPORTED(what)    (1u << (LEAKWRAP_FAMILY_LIBRARY + 1 + (what)))

/* The largest number of frames that are searched for a pointer into the stack. */
#define FRAMES_MAX 64

static struct {
	void (*report)(const struct leakwrap_misuse *misuse);
	struct freed_block *freed;     /* FREED entries, and entry 0, which stays empty */
	_Atomic uint16_t *freed_index; /* by the address's hash: number of the entry, or 0 */
	_Atomic unsigned freed_used;   /* entries; may exceed FREED */
	_Atomic unsigned
	        *site; /* bits by call-site number; words, for processors without atomic bytes */
	bool is_libc_allocator; /* the program brings no allocator of its own */
	bool is_glibc;          /* malloc and free are glibc's */
	bool is_closed;         /* the allocator is the C library's and all wraps are in place */
	bool is_libstdcxx;      /* operators new and delete are not the program's */
	_Atomic bool in_doubt;  /* see leakwrap_misuse_note_unseen */
	_Atomic bool has_static_blocks[2]; /* blocks lie in modules' memory; [1]: writable memory */
	_Atomic bool allocator_has_memory; /* the named allocator hands out memory of its own */
	_Atomic bool allocator_is_malloc;  /* the named allocator hands out malloc's blocks */
} misuse;

bool leakwrap_misuse_checked;

/* -- what is certain --------------------------------------------------------------------------- */

/* Weak: NULL when the program has no such function, or was linked without some of the wraps. */
extern const char leakwrap_wraps_are_complete __attribute__((weak));
extern const char leakwrap_malloc_is_ours __attribute__((weak));
extern const char leakwrap_calloc_is_ours __attribute__((weak));
extern const char leakwrap_realloc_is_ours __attribute__((weak));

extern void __real_free(void *block) __attribute__((weak));
extern void __libc_free(void *block) __attribute__((weak)); /* glibc's free by another name */

/* Pointers to the operators new and delete that the program calls, in the names of the Itanium C++
 * ABI, 5.1.3 and 5.1.5.  cxx.c defines one beside each wrapper.  A weak reference to the operator
 * itself does not link where only a library that another library needs defines it. */
#if UINTPTR_MAX > UINT32_MAX
#define SIZED(before, after) before##m##after
#else
#define SIZED(before, after) before##j##after
#endif
#define OPERATORS_NEW(X, new)                                                           \
	X(SIZED(new, )), X(SIZED(new, RKSt9nothrow_t)), X(SIZED(new, St11align_val_t)), \
	        X(SIZED(new, St11align_val_tRKSt9nothrow_t))
#define OPERATORS_DELETE(X, delete)                                           \
	X(delete), X(delete##RKSt9nothrow_t), X(delete##St11align_val_t),     \
	        X(delete##St11align_val_tRKSt9nothrow_t), X(SIZED(delete, )), \
	        X(SIZED(delete, St11align_val_t))
#define OPERATORS(X)                                                                        \
	OPERATORS_NEW(X, leakwrap_operator__Znw), OPERATORS_NEW(X, leakwrap_operator__Zna), \
	        OPERATORS_DELETE(X, leakwrap_operator__ZdlPv),                              \
	        OPERATORS_DELETE(X, leakwrap_operator__ZdaPv)
#define DECLARATION(name) (*const name)(void) __attribute__((weak)) LEAKWRAP_HIDDEN
extern void OPERATORS(DECLARATION);

/* Returns whether the function at ADDRESS is the C++ library's.  A shared C++ library also has
 * __cxa_throw.
 *
 * In the module of the runtime the order of addresses decides.  Linkers keep the order of their
 * inputs, and the runtime is behind all objects and archives of the program (linker-flags.mk).  The
 * C++ library's operators come after the runtime, the program's own operators before it. */
static bool is_of_library(uintptr_t address)
{
	const struct leakwrap_module *module = leakwrap_module_at(address);

	if (module == leakwrap_module_at((uintptr_t)&leakwrap_misuse_start))
		return address > (uintptr_t)&leakwrap_misuse_start;
	return module && leakwrap_dynamic_find(module, "__cxa_throw") != 0;
}

static bool are_operators_of_library(void)
{
#define POINTER(name) &name
	static void (*const *const operators[])(void) = {OPERATORS(POINTER)};

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (operators[i] && !is_of_library((uintptr_t)*operators[i]))
			return false;
	return true;
}

/* Returns whether all modules call the tracer's malloc and free.  A module that a library has
 * loaded unseen may not. */
static bool are_libraries_seen(void)
{
	const struct leakwrap_modules *modules = leakwrap_modules();

	if (!leakwrap_libraries_are_recorded || leakwrap_modules_have_namespaces() ||
	    !leakwrap_modules_are_listed())
		return false;
	for (unsigned i = 0; i < modules->count; i++)
		if (leakwrap_bypass_now(modules->module[i]) != LEAKWRAP_BYPASS_NONE)
			return false;
	return true;
}

/* Returns whether the tracer has seen every allocation and every release (misuse.h). */
static bool is_everything_seen(void)
{
	return misuse.is_closed && !atomic_load(&misuse.in_doubt) &&
	       (leakwrap_modules_are_program_alone() || are_libraries_seen());
}

/* Returns whether the call site SITE has allocated blocks of FAMILY, and of no other family. */
static bool is_certainly(uint32_t site, enum leakwrap_family family)
{
	return site >= LEAKWRAP_SITE_FIRST &&
	       (atomic_load(&misuse.site[site]) & (ALLOCATES(LEAKWRAP_FAMILY_LIBRARY + 1) - 1)) ==
	               ALLOCATES(family);
}

void leakwrap_misuse_note_unseen(void)
{
	atomic_store(&misuse.in_doubt, true);
}

void leakwrap_misuse_note_malloc_blocks(void)
{
	atomic_store(&misuse.allocator_is_malloc, true);
}

/* Returns whether malloc's blocks certainly are not the named allocator's. */
static bool is_allocator_apart(void)
{
	return atomic_load(&misuse.allocator_has_memory) &&
	       !atomic_load(&misuse.allocator_is_malloc);
}

/* -- freed blocks ------------------------------------------------------------------------------ */

/* Returns the place of ADDRESS in the index. */
static _Atomic uint16_t *freed_place(uintptr_t address)
{
	uintptr_t hash = (address >> 3) * (uintptr_t)LEAKWRAP_HASH_FACTOR_64;

	return &misuse.freed_index[hash >> (sizeof(hash) * 8 - FREED_BITS)];
}

/* Returns the entry that may be of ADDRESS. */
static struct freed_block *freed_at(uintptr_t address)
{
	return &misuse.freed[atomic_load(freed_place(address))];
}

/* Returns the entry for ADDRESS, and makes it if there is none.  Returns entry 0 if all are in use:
 * threads that ask at the same time for one place waste entries. */
static struct freed_block *entry_for(uintptr_t address)
{
	_Atomic uint16_t *const place = freed_place(address);
	unsigned number = atomic_load(place);

	if (number == 0 && atomic_load(&misuse.freed_used) < FREED) {
		number = atomic_fetch_add(&misuse.freed_used, 1) + 1;
		if (number > FREED)
			return &misuse.freed[0];
		atomic_store(place, (uint16_t)number);
	}
	return &misuse.freed[number];
}

/* Stores RELEASE of a block of SIZE bytes that the call site SITE allocated.  Does nothing if
 * another thread is writing the entry. */
static void add_freed(const struct leakwrap_release *release, size_t size, uint32_t site)
{
	struct freed_block *freed = entry_for(release->block);
	uintptr_t old = atomic_load(&freed->address);

	if (freed == misuse.freed || old == BUSY ||
	    !atomic_compare_exchange_strong(&freed->address, &old, BUSY))
		return;
	atomic_thread_fence(memory_order_release); /* who reads the size sees BUSY, too */
	freed->size = size;
	freed->allocated = site;
	freed->released = release->offender;
	atomic_store(&freed->address, release->block);
}

/* Removes the entry of ADDRESS, which is live again. */
static void remove_freed(uintptr_t address)
{
	struct freed_block *freed = freed_at(address);

	/* A thread that is writing the entry writes another address: ADDRESS is live. */
	atomic_compare_exchange_strong(&freed->address, &address, 0);
}

/* Fills *FOUND with the release of the block that was at its pointer.  Returns false and leaves
 * *FOUND as it was if the table does not have that block, or if another thread is replacing it. */
static bool find_freed(struct leakwrap_misuse *found)
{
	struct freed_block *freed = freed_at(found->pointer);
	struct leakwrap_misuse copy = *found;

	if (atomic_load(&freed->address) != found->pointer)
		return false;
	copy.what = LEAKWRAP_MISUSE_FREED;
	copy.block = found->pointer;
	copy.size = freed->size;
	copy.allocated = freed->allocated;
	copy.released = freed->released;
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load(&freed->address) != found->pointer)
		return false;
	*found = copy;
	return true;
}

/* -- pointers that are no block ---------------------------------------------------------------- */

/* Returns whether the pointer is inside the frames of the call chain.  Frames count only if they
 * are consecutive on the thread's own stack, without a signal frame between them. */
static bool is_in_frames(const struct leakwrap_release *release)
{
	struct leakwrap_stack stack = leakwrap_stack_at(release->caller.sp);
	uintptr_t pcs[FRAMES_MAX];
	leakwrap_stack_position positions[FRAMES_MAX];
	struct leakwrap_stack_link links[2 * FRAMES_MAX];
	struct leakwrap_read_set read_set = {.position = positions, .link = links};
	struct leakwrap_trace trace = {.pcs = pcs, .max = FRAMES_MAX, .read_set = &read_set};
	uintptr_t last = 0;

	if (stack.is_foreign || release->block < release->caller.sp || release->block >= stack.high)
		return false;
	leakwrap_read_set_begin(&read_set, release->caller.sp);
	leakwrap_unwind(&trace, &stack, &release->caller);
	if (!read_set.is_usable)
		return false;
	for (unsigned i = 0; i < read_set.return_count; i++)
		if (read_set.position[i] > last)
			last = read_set.position[i];
	return release->block < release->caller.sp + last * sizeof(uintptr_t);
}

/* Returns whether the pointer is on the thread's own stack.  It may lie where a frame was: a
 * function whose last act is a call of free (a tail call) has removed its frame before. */
static bool is_on_stack(const struct leakwrap_release *release)
{
	return leakwrap_stack_holds(release->caller.sp, release->block) || is_in_frames(release);
}

/* Returns whether the pointer is in the memory of a module, where the allocator has no blocks.
 * Read-only memory has no blocks, since nobody could write to them.  Writable memory may be an
 * allocator's arena, but not glibc's.  Operators of the program's own may have an arena beside
 * glibc's. */
static bool is_static(const struct leakwrap_release *release)
{
	const struct leakwrap_segment *segment = leakwrap_segment_at(release->block);

	if (!segment || atomic_load(&misuse.has_static_blocks[segment->is_writable]))
		return false;
	if (!segment->is_writable)
		return true;
	return misuse.is_glibc && release->family != LEAKWRAP_FAMILY_ALLOCATOR &&
	       (release->family == LEAKWRAP_FAMILY_MALLOC ||
	        release->family == LEAKWRAP_FAMILY_LIBRARY || misuse.is_libstdcxx);
}

/* Notes whether the live BLOCK lies in a module.  Then the allocator has an arena there, and
 * pointers into it are never reported as static. */
static void note_arena(const void *block)
{
	const struct leakwrap_segment *segment = leakwrap_segment_at((uintptr_t)block);

	if (segment)
		atomic_store(&misuse.has_static_blocks[segment->is_writable], true);
}

/* Stores BLOCK in the struct leakwrap_misuse *CONTEXT if the pointer is inside.  A pool's blocks
 * may lie inside a block of the allocator: the innermost block counts. */
static void match_interior(void *context, const struct leakwrap_live_block *block)
{
	struct leakwrap_misuse *found = context;

	if (block->address < found->pointer && found->pointer - block->address < block->size &&
	    block->address > found->block) {
		found->block = block->address;
		found->size = block->size;
		found->allocated = block->site;
	}
}

/* Returns whether the pointer certainly is inside a block, behind its start.  Fills *FOUND. */
static bool find_interior(struct leakwrap_misuse *found)
{
	if (!is_everything_seen() &&
	    !(misuse.is_libc_allocator && found->by != LEAKWRAP_FAMILY_ALLOCATOR &&
	      found->pointer % sizeof(void *) != 0))
		return false;
	found->what = LEAKWRAP_MISUSE_INTERIOR;
	leakwrap_live_each(match_interior, found);
	/* Blocks of a named allocator may lie inside a block of malloc's. */
	if (found->by == LEAKWRAP_FAMILY_ALLOCATOR)
		return is_certainly(found->allocated, LEAKWRAP_FAMILY_ALLOCATOR);
	return found->block != 0;
}

/* Returns whether the pointer certainly does not start a live block.  Then fills *FOUND with the
 * reason. */
static bool find_no_block(const struct leakwrap_release *release, struct leakwrap_misuse *found)
{
	if (is_on_stack(release))
		found->what = LEAKWRAP_MISUSE_STACK;
	else if (is_static(release))
		found->what = LEAKWRAP_MISUSE_STATIC;
	else
		return (is_everything_seen() && find_freed(found)) || find_interior(found);
	return true;
}

/* -- calls from record/ ------------------------------------------------------------------------ */

/* Reports each kind of misuse once for each call site, or a loop would fill the log. */
static void report(const struct leakwrap_misuse *found)
{
	_Atomic unsigned *bits = &misuse.site[found->offender];

	if ((atomic_fetch_or(bits, REPORTED(found->what)) & REPORTED(found->what)) == 0)
		misuse.report(found);
	if (leakwrap_options.misuse == LEAKWRAP_ON_MISUSE_ABORT)
		abort();
}

static void mark_number(uint32_t number)
{
	if (number >= LEAKWRAP_SITE_FIRST && number < leakwrap_sites_limit())
		leakwrap_site_keep(number);
}

/* Marks the call sites of freed blocks, and those whose misuse was reported: it would be reported
 * again under another number. */
static void keep_sites(void)
{
	const uint32_t limit = leakwrap_sites_limit();

	for (size_t i = 1; i <= FREED; i++) {
		if (atomic_load(&misuse.freed[i].address) == 0)
			continue;
		mark_number(misuse.freed[i].allocated);
		mark_number(misuse.freed[i].released);
	}
	for (uint32_t number = LEAKWRAP_SITE_FIRST; number < limit; number++)
		if (atomic_load(&misuse.site[number]) >= REPORTED(0))
			leakwrap_site_keep(number);
}

static void forget_site(uint32_t number)
{
	atomic_store(&misuse.site[number], 0);
}

/* Returns the allocator's free, or NULL if free is not wrapped. */
static void (*original_free(void))(void *)
{
	return leakwrap_originals.are_found ? leakwrap_originals.free : __real_free;
}

static const struct leakwrap_site_keeper keeper = {keep_sites, forget_site};

/* Stays where the linker puts this file among the program's code: see is_of_library.  The rest of
 * the code is moved to a section of the runtime's own (wrap.mk). */
__attribute__((section(".text.leakwrap_misuse_start"))) bool
leakwrap_misuse_start(void (*reporter)(const struct leakwrap_misuse *misuse))
{
	misuse.report = reporter;
	misuse.freed = leakwrap_pages_map((FREED + 1) * sizeof(misuse.freed[0]));
	misuse.freed_index = leakwrap_pages_map(FREED * sizeof(misuse.freed_index[0]));
	misuse.site = leakwrap_pages_map_sparse(LEAKWRAP_SITE_LIMIT * sizeof(misuse.site[0]), true);
	if (!misuse.freed || !misuse.freed_index || !misuse.site)
		return false;
	misuse.is_libc_allocator = leakwrap_heap_is_libc();
	misuse.is_glibc = leakwrap_heap_is_glibc() && original_free() == __libc_free;
	misuse.is_closed = misuse.is_libc_allocator && &leakwrap_wraps_are_complete &&
	                   &leakwrap_malloc_is_ours && &leakwrap_calloc_is_ours &&
	                   &leakwrap_realloc_is_ours;
	misuse.is_libstdcxx = are_operators_of_library();
	leakwrap_sites_set_keeper(&keeper);
	leakwrap_live_disable_fast_path();
	leakwrap_misuse_checked = true;
	return true;
}

void leakwrap_misuse_note_allocation(const void *block, uint32_t site, enum leakwrap_family family)
{
	atomic_fetch_or(&misuse.site[site], ALLOCATES(family));
	if (family != LEAKWRAP_FAMILY_POOL)
		note_arena(block);
	if (family == LEAKWRAP_FAMILY_ALLOCATOR)
		atomic_store(&misuse.allocator_has_memory, true);
	remove_freed((uintptr_t)block);
}

void leakwrap_misuse_cancel_release(const void *block)
{
	remove_freed((uintptr_t)block);
}

void leakwrap_misuse_check_release(const struct leakwrap_release *release, size_t size,
                                   uint32_t site)
{
	struct leakwrap_misuse found = {.what = LEAKWRAP_MISUSE_MISMATCH,
	                                .resizes = release->resizes,
	                                .pointer = release->block,
	                                .by = release->family,
	                                .offender = release->offender,
	                                .block = release->block,
	                                .size = size,
	                                .allocated = site};

	if (release->family == LEAKWRAP_FAMILY_POOL)
		return;
	add_freed(release, size, site);
	if (release->family == LEAKWRAP_FAMILY_LIBRARY || !misuse.is_libstdcxx)
		return;
	if (release->family == LEAKWRAP_FAMILY_ALLOCATOR && !is_allocator_apart())
		return;
	/* The last question reads the relocations of all modules. */
	for (found.family = LEAKWRAP_FAMILY_MALLOC; found.family < LEAKWRAP_FAMILY_POOL;
	     found.family++)
		if (found.family != release->family && is_certainly(site, found.family) &&
		    is_everything_seen())
			report(&found);
}

bool leakwrap_misuse_check_unknown(const struct leakwrap_release *release)
{
	struct leakwrap_misuse found = {.resizes = release->resizes,
	                                .pointer = release->block,
	                                .by = release->family,
	                                .offender = release->offender};

	if (release->family == LEAKWRAP_FAMILY_POOL)
		return false;
	if (find_no_block(release, &found)) {
		report(&found);
		return true;
	}
	leakwrap_misuse_note_unseen();
	return false;
}
