/* misuse.c - misuse.c in wrap/misuse reports a release only if it is certainly wrong: a made-up
 * world says what the tracer sees, where the stack lies and where modules lie.
 * sources: wrap/misuse/misuse.c wrap/base/arena.c wrap/base/options.c wrap/base/loss.c
 * sources: wrap/base/thread.c wrap/port/linux*.c */
#include "wrap/misuse/misuse.h"

#include "wrap/base/options.h"
#include "wrap/live/fast.h"
#include "wrap/live/heap_allocator.h"
#include "wrap/live/live.h"
#include "wrap/live/live_read.h"
#include "wrap/module/bypass.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/loaded.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_table.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/unwind.h"
#include "unit.h"

#include <string.h>

#define WORD sizeof(uintptr_t)

enum { SITES = 200, BLOCK = 0x10000, STACK = 0x40000, DATA = 0x80000 };

/* -- the world --------------------------------------------------------------------------------- */

const char leakwrap_wraps_are_complete, leakwrap_malloc_is_ours, leakwrap_calloc_is_ours,
        leakwrap_realloc_is_ours;
struct leakwrap_originals leakwrap_originals = {.are_found = true};
bool leakwrap_libraries_are_recorded;

extern void __libc_free(void *block) __attribute__((weak));

static union {
	struct leakwrap_modules list;
	uintptr_t words[8];
} modules;
const struct leakwrap_modules *_Atomic leakwrap_modules_current = &modules.list;

static struct leakwrap_module library = {.is_permanent = true};
static enum leakwrap_bypass bypass;
static bool has_namespaces, are_listed;

static struct leakwrap_stack stack;
static bool is_held, is_usable;
static struct leakwrap_segment segment;
static struct leakwrap_live_block live[2];

static const struct leakwrap_site_keeper *keeper;
static bool is_kept[SITES];

static struct leakwrap_misuse found;
static bool is_reported;

bool leakwrap_modules_are_program_alone(void)
{
	return false;
}

bool leakwrap_modules_are_listed(void)
{
	return are_listed;
}

bool leakwrap_modules_have_namespaces(void)
{
	return has_namespaces;
}

enum leakwrap_bypass leakwrap_bypass_of(const struct leakwrap_module *module)
{
	CHECK(module == &library);
	return bypass;
}

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	(void)address;
	return NULL;
}

uintptr_t leakwrap_dynamic_find(const struct leakwrap_module *module, const char *name)
{
	(void)module, (void)name;
	return 0;
}

const struct leakwrap_segment *leakwrap_segment_at(uintptr_t address)
{
	return address - segment.start < segment.end - segment.start ? &segment : NULL;
}

bool leakwrap_heap_is_libc(void)
{
	return true;
}

bool leakwrap_heap_is_glibc(void)
{
	return true;
}

void leakwrap_live_disable_fast_path(void)
{
}

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	for (unsigned i = 0; i < 2; i++)
		if (live[i].size > 0)
			visit(context, &live[i]);
}

bool leakwrap_stack_holds(uintptr_t sp, uintptr_t address)
{
	(void)sp, (void)address;
	return is_held;
}

struct leakwrap_stack leakwrap_stack_find(uintptr_t sp)
{
	(void)sp;
	return stack;
}

/* The return addresses lie 3, 7 and 5 words above sp. */
void leakwrap_unwind(struct leakwrap_trace *trace, struct leakwrap_stack *on,
                     const struct leakwrap_caller *caller)
{
	struct leakwrap_read_set *read_set = trace->read_set;

	CHECK(on->low == stack.low && caller->sp == STACK);
	read_set->position[0] = 3;
	read_set->position[1] = 7;
	read_set->position[2] = 5;
	read_set->return_count = 3;
	read_set->is_usable = is_usable;
}

void leakwrap_sites_set_keeper(const struct leakwrap_site_keeper *new_keeper)
{
	keeper = new_keeper;
}

uint32_t leakwrap_sites_limit(void)
{
	return SITES;
}

void leakwrap_site_keep(uint32_t number)
{
	CHECK(number >= LEAKWRAP_SITE_FIRST && number < SITES);
	is_kept[number] = true;
}

static void report(const struct leakwrap_misuse *misuse)
{
	found = *misuse;
	is_reported = true;
}

/* Makes a world in which the tracer sees everything. */
static void make_world(void)
{
	modules.list.count = 1;
	memcpy((void *)&modules.list.module[0], &(const struct leakwrap_module *){&library}, WORD);
	leakwrap_originals.free = __libc_free;
	leakwrap_libraries_are_recorded = are_listed = true;
	has_namespaces = is_held = false;
	bypass = LEAKWRAP_BYPASS_NONE;
	stack = (struct leakwrap_stack){STACK, STACK + 20 * WORD, false};
	is_usable = true;
	segment = (struct leakwrap_segment){.start = 0};
	memset(live, 0, sizeof(live));
}

/* -- releases ---------------------------------------------------------------------------------- */

/* Returns a call site that has reported nothing. */
static uint32_t next_site(void)
{
	static uint32_t last = LEAKWRAP_SITE_FIRST;

	CHECK(last + 1 < SITES);
	return ++last;
}

static struct leakwrap_release release_of(uintptr_t block, enum leakwrap_family family)
{
	return (struct leakwrap_release){
	        .block = block, .family = family, .offender = next_site(), .caller.sp = STACK};
}

static void allocate(uintptr_t block, enum leakwrap_family family, uint32_t site)
{
	leakwrap_misuse_note_allocation((const void *)block, site, family);
}

/* Frees the block that SITE has allocated.  Returns whether that is reported. */
static bool reports_free(uintptr_t block, enum leakwrap_family family, uint32_t site)
{
	const struct leakwrap_release release = release_of(block, family);

	is_reported = false;
	leakwrap_misuse_check_release(&release, 32, site);
	return is_reported;
}

/* Frees POINTER, which has no record.  Returns whether that is reported. */
static bool reports_unknown(uintptr_t pointer)
{
	const struct leakwrap_release release = release_of(pointer, LEAKWRAP_FAMILY_MALLOC);

	is_reported = false;
	CHECK(leakwrap_misuse_check_unknown(&release) == is_reported);
	return is_reported;
}

/* Frees a block twice.  Returns whether the second release is reported. */
static bool reports_second_free(void)
{
	const uint32_t site = next_site();

	allocate(BLOCK, LEAKWRAP_FAMILY_MALLOC, site);
	CHECK(!reports_free(BLOCK, LEAKWRAP_FAMILY_MALLOC, site));
	return reports_unknown(BLOCK) && found.what == LEAKWRAP_MISUSE_FREED &&
	       found.allocated == site && found.size == 32;
}

/* -- the tests --------------------------------------------------------------------------------- */

/* Frees two blocks wrongly. */
static void report_mismatches(void)
{
	const uint32_t site = next_site();

	allocate(BLOCK, LEAKWRAP_FAMILY_MALLOC, site);
	CHECK(reports_free(BLOCK, LEAKWRAP_FAMILY_NEW, site));
	CHECK(found.what == LEAKWRAP_MISUSE_MISMATCH && found.family == LEAKWRAP_FAMILY_MALLOC);
	/* The named allocator may be malloc. */
	CHECK(!reports_free(BLOCK, LEAKWRAP_FAMILY_ALLOCATOR, site));
	allocate(BLOCK + 64, LEAKWRAP_FAMILY_ALLOCATOR, next_site());
	CHECK(reports_free(BLOCK, LEAKWRAP_FAMILY_ALLOCATOR, site));
	leakwrap_misuse_note_malloc_blocks();
	CHECK(!reports_free(BLOCK, LEAKWRAP_FAMILY_ALLOCATOR, site));
}

/* A freed block that is live again is not free.  Its record may be missing: the program made the
 * tracer forget the block, or there was no memory for the record. */
static void reuse_freed(void)
{
	const uint32_t site = next_site();
	const uintptr_t block = BLOCK + 128;

	allocate(block, LEAKWRAP_FAMILY_MALLOC, site);
	CHECK(!reports_free(block, LEAKWRAP_FAMILY_MALLOC, site));
	CHECK(reports_unknown(block));
	leakwrap_misuse_cancel_release((const void *)block);
	live[0] = (struct leakwrap_live_block){block - 16, 64, site};
	CHECK(reports_unknown(block) && found.what == LEAKWRAP_MISUSE_INTERIOR);

	CHECK(!reports_free(block, LEAKWRAP_FAMILY_MALLOC, site));
	CHECK(reports_unknown(block) && found.what == LEAKWRAP_MISUSE_FREED);
	allocate(block, LEAKWRAP_FAMILY_MALLOC, site);
	CHECK(reports_unknown(block) && found.what == LEAKWRAP_MISUSE_INTERIOR);
}

/* What the collector of call sites must not free. */
static void keep(void)
{
	const uint32_t site = next_site();
	uint32_t released, offender;

	allocate(BLOCK + 192, LEAKWRAP_FAMILY_MALLOC, site);
	CHECK(!reports_free(BLOCK + 192, LEAKWRAP_FAMILY_MALLOC, site));
	CHECK(reports_unknown(BLOCK + 192));
	released = found.released;
	offender = found.offender;
	memset(is_kept, 0, sizeof(is_kept));
	keeper->keep();
	CHECK(is_kept[site] && is_kept[released] && is_kept[offender]);
	CHECK(!is_kept[SITES - 1]);
	keeper->forget(offender);
	is_kept[offender] = false;
	keeper->keep();
	CHECK(!is_kept[offender]);
}

/* The innermost block counts, and a block ends before its end. */
static void point_inside(void)
{
	const uint32_t outer = next_site(), inner = next_site();

	for (unsigned first = 0; first < 2; first++) {
		make_world();
		live[first] = (struct leakwrap_live_block){BLOCK + 0x100, 0x200, outer};
		live[!first] = (struct leakwrap_live_block){BLOCK + 0x180, 0x40, inner};
		CHECK(reports_unknown(BLOCK + 0x181) && found.allocated == inner);
		CHECK(found.what == LEAKWRAP_MISUSE_INTERIOR && found.block == BLOCK + 0x180);
		CHECK(reports_unknown(BLOCK + 0x1c0) && found.allocated == outer);
		CHECK(reports_unknown(BLOCK + 0x2ff) && found.allocated == outer);
	}
}

/* Frees a pointer inside a block twice.  That is wrong in any case, and leaves no doubt behind: the
 * pointer is not aligned.  Returns whether the address counts as freed. */
static bool knows_freed(void)
{
	const uint32_t site = next_site();
	const uintptr_t pointer = BLOCK + 0x103;

	live[0] = (struct leakwrap_live_block){BLOCK + 0x100, 0x200, site};
	CHECK(!reports_free(pointer, LEAKWRAP_FAMILY_MALLOC, site));
	CHECK(reports_unknown(pointer));
	CHECK(found.what == LEAKWRAP_MISUSE_FREED || found.what == LEAKWRAP_MISUSE_INTERIOR);
	return found.what == LEAKWRAP_MISUSE_FREED;
}

/* Whatever the tracer may not see makes it uncertain that a freed block is free. */
static void doubt(void)
{
	static bool *const facts[] = {&leakwrap_libraries_are_recorded, &are_listed,
	                              &has_namespaces};

	make_world();
	CHECK(knows_freed());
	for (unsigned i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		make_world();
		*facts[i] = !*facts[i];
		CHECK(!knows_freed());
	}
	make_world();
	bypass = LEAKWRAP_BYPASS_BOUND;
	CHECK(!knows_freed());

	/* An unknown block was allocated unseen.  So may be all later ones. */
	make_world();
	CHECK(reports_second_free());
	CHECK(!reports_unknown(BLOCK + 0x1000));
	CHECK(!reports_second_free());
}

/* Only the frames from the release up to the last return address are certainly stack. */
static void point_to_frames(void)
{
	make_world();
	CHECK(reports_unknown(STACK) && found.what == LEAKWRAP_MISUSE_STACK);
	CHECK(reports_unknown(STACK + 7 * WORD - 1) && found.what == LEAKWRAP_MISUSE_STACK);
	CHECK(!reports_unknown(STACK + 7 * WORD));
	CHECK(!reports_unknown(STACK - 1));
	stack.high = STACK + 4 * WORD;
	CHECK(!reports_unknown(STACK + 4 * WORD));
	CHECK(reports_unknown(STACK + 4 * WORD - 1));
	make_world();
	is_usable = false;
	CHECK(!reports_unknown(STACK));
	make_world();
	stack.is_foreign = true;
	CHECK(!reports_unknown(STACK));
	is_held = true;
	CHECK(reports_unknown(STACK) && found.what == LEAKWRAP_MISUSE_STACK);
}

/* Writable memory of a module has blocks if the allocator is not glibc's, or a block was there. */
static void point_to_module(void)
{
	for (int is_writable = 0; is_writable < 2; is_writable++) {
		const bool is_certain = !is_writable || leakwrap_originals.free == __libc_free;

		segment = (struct leakwrap_segment){DATA, DATA + 0x1000, is_writable};
		CHECK(!reports_unknown(DATA + 0x1000));
		CHECK(reports_unknown(DATA) == is_certain);
		allocate(DATA + 64, LEAKWRAP_FAMILY_POOL, next_site());
		CHECK(reports_unknown(DATA) == is_certain);
	}
}

static void point_to_arena(void)
{
	for (int is_writable = 0; is_writable < 2; is_writable++) {
		segment = (struct leakwrap_segment){DATA, DATA + 0x1000, is_writable};
		allocate(DATA + 64, LEAKWRAP_FAMILY_MALLOC, next_site());
		CHECK(!reports_unknown(DATA));
	}
}

static void free_otherwise(void *block)
{
	(void)block;
}

int main(void)
{
	make_world();
	CHECK(leakwrap_misuse_start(report));
	report_mismatches();
	reuse_freed();
	keep();
	point_inside();
	doubt();
	point_to_frames();
	make_world();
	point_to_module();
	leakwrap_originals.free = free_otherwise;
	CHECK(leakwrap_misuse_start(report));
	point_to_module();
	leakwrap_originals.free = __libc_free;
	CHECK(leakwrap_misuse_start(report));
	point_to_arena();
	return 0;
}
