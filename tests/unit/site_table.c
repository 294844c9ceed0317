/* site_table.c - the call-site table and its recognition of stacks, with made-up stacks, in
 * threads. A backtrace has one number, and a number has one backtrace. A stack is recognized as
 * itself or not at all. The parts are site_table.c, stack_cache.c, stack_shape.c, stack_index.c and
 * delta_backtrace.c in wrap/site.
 * sources: @sites */
#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/base/site_number.h"
#include "made_up.h"
#include "wrap/module/registry.h"
#include "wrap/unwind/read_set.h"
#include "wrap/port/port.h"
#include "wrap/site/stack_cache.h"
#include "wrap/site/stack_probe.h"
#include "wrap/site/young_ring.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/site_read.h"
#include "wrap/site/site_table.h"
#include "wrap/base/locked_uthash.h"
#include "unheld_modules.h"
#include "unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* -- the rest of the runtime ------------------------------------------------------------------- */

/* More than the shapes that the stacks of one call site may have. */
enum { SNAPSHOTS = 10 };

static struct leakwrap_modules snapshots[SNAPSHOTS];
static const struct leakwrap_module program = {.is_program = true, .is_permanent = true};
/* The second plugin may have taken the place of the first. */
static const struct leakwrap_module plugins[2] = {{.serial = 101}, {.serial = 102}};
static bool is_other_plugin[SNAPSHOTS]; /* in each snapshot */
/* The library that plugins were linked with. */
static const struct leakwrap_module library = {.serial = 103};
const struct leakwrap_modules *_Atomic leakwrap_modules_current = &snapshots[0];

static void change_modules(const struct leakwrap_modules *now)
{
	leakwrap_lock(&leakwrap_tables_lock);
	atomic_store(&leakwrap_modules_current, now);
	leakwrap_stack_cache_flush();
	leakwrap_unlock(&leakwrap_tables_lock);
}

/* A return address with this bit belongs to the plugin. */
#define OF_PLUGIN 2u

/* A return address with this bit belongs to the library. */
#define OF_LIBRARY 4u

const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address)
{
	if ((address + 1) & OF_LIBRARY)
		return &library;
	return (address + 1) & OF_PLUGIN ? &plugins[is_other_plugin[modules - snapshots]]
	                                 : &program;
}

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	return leakwrap_module_among(leakwrap_modules(), address);
}

/* -- stacks ------------------------------------------------------------------------------------ */

enum { THREADS = 4, CHAINS = 512, WORDS = 256, STEPS = 10000 };

/* Distance to addresses with other upper halves, if addresses have halves. */
#define FAR ((uintptr_t)1 << (UINTPTR_MAX > UINT32_MAX ? 36 : 29))

/* A bit that no return address has. */
#define NO_BIT ((uintptr_t)1 << (UINTPTR_MAX > UINT32_MAX ? 40 : 28))

/* Chains whose numbers differ by this are equally deep and have one shape. */
enum { FORMS_PERIOD = 13 * 4 };

/* Chain N has N % 13 + 1 frames. Chains with the same first return address have frames of the same
 * size. */
static unsigned depth_of(unsigned chain)
{
	return chain % 13 + 1;
}

static uintptr_t pc_of(unsigned chain, unsigned frame)
{
	/* Chains share callers and their first frames. Some go through a module far away. */
	const uintptr_t far = chain % 5 == 1 && frame >= 2 ? FAR : 0;
	const unsigned near = (frame < 2 ? (chain / 13 % 4) * 64 : chain * 4096) + frame * 16 +
	                      (chain % 7 == 0 && frame == 1 ? OF_PLUGIN : 0);

	return far + 0x400000 + near;
}

static uint16_t position_of(unsigned chain, unsigned frame)
{
	return (uint16_t)(frame * (2 + chain / 13 % 4));
}

/* Every other shape links its frames: the word below a return address leads to the next
 * such word. */
static bool is_linked(unsigned chain)
{
	return chain / 13 % 2 == 1;
}

static uint16_t link_of(unsigned chain, unsigned frame)
{
	return (uint16_t)(position_of(chain, frame) - 1);
}

static _Atomic uint32_t number_of[CHAINS];

/* The calling thread's stack lies from LOW to HIGH from now on. */
static void run_on(const uintptr_t *low, const uintptr_t *high)
{
	leakwrap_self.stack_high = (uintptr_t)high;
	leakwrap_self.stack_room = (uintptr_t)high - (uintptr_t)low;
}

/* Puts CHAIN on STACK, which has WORDS words. */
static void call(uintptr_t *stack, unsigned chain)
{
	for (unsigned i = 0; i < WORDS; i++)
		stack[i] = MADE_UP_END;
	for (unsigned frame = 1; frame < depth_of(chain); frame++) {
		stack[position_of(chain, frame)] = pc_of(chain, frame);
		if (is_linked(chain))
			stack[link_of(chain, frame)] = (uintptr_t)&stack[link_of(chain, frame + 1)];
	}
}

/* Returns the frame pointer of the first caller. */
static uintptr_t fp_of(const uintptr_t *stack, unsigned chain)
{
	return is_linked(chain) ? (uintptr_t)&stack[link_of(chain, 1)] : 0;
}

static uint32_t walk(uintptr_t *stack, unsigned chain, const uintptr_t *high)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	leakwrap_stack_position positions[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_stack_link links[2 * LEAKWRAP_MAX_DEPTH];
	struct leakwrap_read_set read_set = {.position = positions, .link = links};
	struct leakwrap_trace trace = {.pcs = pcs,
	                               .max = LEAKWRAP_MAX_DEPTH,
	                               .read_set = &read_set,
	                               .depth = depth_of(chain)};
	struct leakwrap_stack bounds = {(uintptr_t)stack, (uintptr_t)high, false};

	leakwrap_read_set_begin(&read_set, (uintptr_t)stack);
	for (unsigned frame = 0; frame < depth_of(chain); frame++) {
		pcs[frame] = pc_of(chain, frame);
		if (frame == 0)
			continue;
		positions[read_set.return_count++] = position_of(chain, frame);
		/* The walk did not use the word that the last frame saved. */
		if (is_linked(chain) && frame + 1 < depth_of(chain))
			links[read_set.link_count++] = (struct leakwrap_stack_link){
			        link_of(chain, frame), link_of(chain, frame + 1)};
	}
	if (is_linked(chain) && depth_of(chain) > 1)
		read_set.fp_target = link_of(chain, 1);
	/* The word behind the last return address ends the walk. */
	read_set.end_position = (uint16_t)(position_of(chain, depth_of(chain)));
	read_set.end_word = MADE_UP_END;
	read_set.is_usable = true;
	return leakwrap_site_intern(&trace, &bounds);
}

static void check_number(unsigned chain, uint32_t number)
{
	uint32_t none = 0;

	CHECK(number >= LEAKWRAP_SITE_FIRST && number < leakwrap_sites_limit());
	if (!atomic_compare_exchange_strong(&number_of[chain], &none, number))
		CHECK(none == number);
}

/* No stack is passed over, however many are not recognized. */
static uint32_t recall(const uintptr_t *stack, unsigned chain)
{
	leakwrap_self.unrecognized = leakwrap_self.passed_over = 0;
	return leakwrap_stack_cache_find(pc_of(chain, 0), (uintptr_t)stack, fp_of(stack, chain));
}

/* While only one thread learns, a stack is recognized from its first walk on, also on another
 * thread. All stacks that were walked before are still recognized. */
static void *learn(void *chains)
{
	uintptr_t whole[2][2 * WORDS];

	for (unsigned chain = 0; chain < (uintptr_t)chains; chain++) {
		const size_t begin = WORDS - (size_t)depth_of(chain) * 8;
		uintptr_t *stack = whole[0] + begin;

		run_on(whole[0], whole[1]);
		call(stack, chain);
		check_number(chain, walk(stack, chain, whole[1]));
		/* The same chain on another thread's stack, elsewhere. */
		run_on(whole[1], whole[1] + (size_t)2 * WORDS);
		stack = whole[1] + begin;
		for (unsigned known = chain % FORMS_PERIOD; known <= chain; known += FORMS_PERIOD) {
			call(stack, known);
			CHECK(recall(stack, known) == atomic_load(&number_of[known]));
		}
	}
	run_on(NULL, NULL);
	return NULL;
}

static void *live(void *seed)
{
	uintptr_t whole[2 * WORDS], *high = whole + (size_t)2 * WORDS;
	uint64_t random = (uintptr_t)seed;
	unsigned recalled = 0;

	run_on(whole, high);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned chain = (unsigned)(draw_random(&random) % CHAINS);
		unsigned frame = 1 + (unsigned)(draw_random(&random) % 13);
		uint32_t number;

		/* A deeper chain begins lower. */
		uintptr_t *stack = whole + WORDS - (size_t)depth_of(chain) * 8;

		call(stack, chain);
		number = recall(stack, chain);
		recalled += number != LEAKWRAP_SITE_NONE;
		if (number == LEAKWRAP_SITE_NONE)
			number = walk(stack, chain, high);
		check_number(chain, number);
		/* With another return address it is another stack, or unknown. */
		if (frame < depth_of(chain)) {
			stack[position_of(chain, frame)] ^= NO_BIT;
			CHECK(recall(stack, chain) == LEAKWRAP_SITE_NONE);
			stack[position_of(chain, frame)] ^= NO_BIT;
		}
		/* It is also another stack if two return addresses have changed places, or were
		 * both shifted by the same distance. */
		if (frame + 1 < depth_of(chain)) {
			uintptr_t *one = &stack[position_of(chain, frame)];
			uintptr_t *other = &stack[position_of(chain, frame + 1)];
			const uintptr_t word = *one;

			*one = *other;
			*other = word;
			CHECK(recall(stack, chain) == LEAKWRAP_SITE_NONE);
			*other = *one - 16;
			*one = word + 16;
			CHECK(recall(stack, chain) == LEAKWRAP_SITE_NONE);
			*one -= 16;
			*other += 16;
		}
		/* It is not recognized if the walk would go on behind its end. */
		stack[position_of(chain, depth_of(chain))] += MADE_UP_END;
		CHECK(recall(stack, chain) == LEAKWRAP_SITE_NONE);
		stack[position_of(chain, depth_of(chain))] -= MADE_UP_END;
		/* If the frames are linked in another way, they lie elsewhere. */
		if (is_linked(chain) && frame + 2 < depth_of(chain)) {
			stack[link_of(chain, frame)] += sizeof(uintptr_t);
			stack[link_of(chain, frame + 1)] -= sizeof(uintptr_t);
			CHECK(recall(stack, chain) == LEAKWRAP_SITE_NONE);
			stack[link_of(chain, frame)] -= sizeof(uintptr_t);
			stack[link_of(chain, frame + 1)] += sizeof(uintptr_t);
		}
		if (is_linked(chain) && frame + 1 < depth_of(chain)) {
			stack[link_of(chain, frame)] += sizeof(uintptr_t);
			CHECK(recall(stack, chain) == LEAKWRAP_SITE_NONE);
			stack[link_of(chain, frame)] -= sizeof(uintptr_t);
		}
		if (is_linked(chain) && depth_of(chain) > 1)
			CHECK(leakwrap_stack_cache_find(pc_of(chain, 0), (uintptr_t)stack,
			                                fp_of(stack, chain) + sizeof(uintptr_t)) ==
			      LEAKWRAP_SITE_NONE);
		if (step % 1000 == 0)
			change_modules(&snapshots[draw_random(&random) % 2]);
	}
	CHECK(recalled > STEPS / 4);
	return NULL;
}

/* A caller has a variable-length array: one backtrace, whose return address stands elsewhere each
 * time. */
static void *vary(void *unused)
{
	enum { FORMS = 20000, ENOUGH = 100 };
	static uintptr_t stack[FORMS + 2];
	leakwrap_stack_position position;
	size_t held = 0;

	(void)unused;
	run_on(stack, stack + FORMS + 2);
	for (unsigned form = 0; form < FORMS; form++) {
		uintptr_t pcs[2] = {0x300000, 0x300100};
		struct leakwrap_stack_link none[1];
		struct leakwrap_read_set read_set = {.position = &position, .link = none};
		struct leakwrap_trace trace = {
		        .pcs = pcs, .max = 2, .read_set = &read_set, .depth = 2};
		struct leakwrap_stack bounds = {(uintptr_t)stack, (uintptr_t)(stack + FORMS + 2),
		                                false};

		position = (uint16_t)form;
		leakwrap_read_set_begin(&read_set, (uintptr_t)stack);
		read_set.return_count = 1;
		read_set.is_usable = true;
		CHECK(leakwrap_site_intern(&trace, &bounds) == LEAKWRAP_SITE_FIRST);
		if (form == ENOUGH)
			held = leakwrap_pages_held();
	}
	CHECK(leakwrap_pages_held() == held);
	return NULL;
}

/* Checks that MADE is recognized on STACK, has the number NUMBER, and keeps its backtrace. */
static void check_kept(struct made_up made, uintptr_t *stack, const uintptr_t *high,
                       uint32_t number)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};

	made_up_call(&made, stack);
	CHECK(leakwrap_stack_cache_find(made.pcs[0], (uintptr_t)stack, 0) == number);
	CHECK(made_up_walk(&made, stack, high) == number);
	leakwrap_site_read(number, &trace);
	CHECK(trace.depth == made.depth && memcmp(pcs, made.pcs, made.depth * sizeof(pcs[0])) == 0);
}

/* -- the same callers -------------------------------------------------------------------------- */

enum { SHARING = 8 };

/* Two functions allocate. Both have the same four callers. */
static struct made_up of_sharing(unsigned who, unsigned gap)
{
	return (struct made_up){.pcs = {0x900000 + (uintptr_t)(who % 2) * 0x100,
	                                0x910000 + (uintptr_t)(who / 2) * 0x10, 0x920000, 0x930000},
	                        .depth = 4,
	                        .gap = gap};
}

/* A hash that chooses a call site by one shape chooses none by another shape. Stacks of a second
 * shape are recognized, too. */
static void *share(void *unused)
{
	uintptr_t whole[WORDS], *high = whole + WORDS, *stack = whole + WORDS / 2;
	const uint32_t first = leakwrap_sites_limit();

	(void)unused;
	run_on(whole, high);
	for (unsigned gap = 1; gap <= 2; gap++) {
		for (unsigned who = 0; who < SHARING; who++) {
			const struct made_up made = of_sharing(who, gap);

			CHECK(made_up_walk(&made, stack, high) == first + who);
		}
		for (unsigned who = 0; who < 2; who++) {
			struct made_up made = of_sharing(who, gap);

			made.pcs[2] += 0x10;
			CHECK(made_up_walk(&made, stack, high) == first + SHARING + who);
		}
		for (unsigned who = 0; who < SHARING; who++) {
			const struct made_up made = of_sharing(who, gap);

			made_up_call(&made, stack);
			CHECK(leakwrap_stack_cache_find(made.pcs[0], (uintptr_t)stack, 0) ==
			      first + who);
		}
	}
	run_on(NULL, NULL);
	return NULL;
}

/* -- modules come and go ----------------------------------------------------------------------- */

enum { IN_PROGRAM, IN_PLUGIN, IN_BOTH };

/* Puts a caller on STACK. All callers have stacks of one shape. */
static uintptr_t call_from(unsigned caller, unsigned where, uintptr_t *stack)
{
	stack[3] = 0xb10000 | (where != IN_PROGRAM ? OF_PLUGIN : 0);
	stack[6] = (0xb20000 + (uintptr_t)caller * 0x10) | (where == IN_BOTH ? OF_LIBRARY : 0);
	return 0xb00000;
}

/* Walks STACK. The modules were those of THEN when the walk began. The walk ended by a table.
 * Returns the number of the call site. */
static uint32_t walk_from(unsigned caller, unsigned where, uintptr_t *stack, const uintptr_t *high,
                          const struct leakwrap_modules *then)
{
	uintptr_t pcs[] = {call_from(caller, where, stack), stack[3], stack[6]};
	leakwrap_stack_position positions[] = {3, 6};
	struct leakwrap_read_set read_set = {.position = positions};
	struct leakwrap_trace trace = {.pcs = pcs, .max = 3, .read_set = &read_set, .depth = 3};
	struct leakwrap_stack bounds = {(uintptr_t)stack, (uintptr_t)high, false};

	leakwrap_read_set_begin(&read_set, (uintptr_t)stack);
	read_set.modules = then;
	read_set.return_count = 2;
	read_set.is_usable = true;
	return leakwrap_site_intern(&trace, &bounds);
}

static uint32_t recall_from(unsigned caller, unsigned where, uintptr_t *stack)
{
	return leakwrap_stack_cache_find(call_from(caller, where, stack), (uintptr_t)stack, 0);
}

/* Stacks of modules that stay are recognized again, however often the modules change, and stacks of
 * the program at once. A stack of another plugin at the same addresses is not. */
static void check_changes(unsigned caller, unsigned where, uintptr_t *stack, const uintptr_t *high)
{
	uint32_t number;

	change_modules(&snapshots[1]);
	number = walk_from(caller, where, stack, high, &snapshots[1]);
	for (unsigned change = 0; change < 2 * SNAPSHOTS; change++) {
		const struct leakwrap_modules *now = &snapshots[change % SNAPSHOTS];

		change_modules(now);
		CHECK(recall_from(caller, where, stack) ==
		      (where == IN_PROGRAM ? number : LEAKWRAP_SITE_NONE));
		CHECK(walk_from(caller, where, stack, high, now) == number);
		CHECK(recall_from(caller, where, stack) == number);
	}
	if (where == IN_PROGRAM)
		return;
	is_other_plugin[0] = true;
	change_modules(&snapshots[0]);
	CHECK(walk_from(caller, where, stack, high, &snapshots[0]) == number + 1);
	CHECK(recall_from(caller, where, stack) == number + 1);
	is_other_plugin[0] = false;
}

static void *come_and_go(void *unused)
{
	uintptr_t whole[WORDS], *high = whole + WORDS, *stack = whole + WORDS / 2;
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};

	(void)unused;
	run_on(whole, high);
	/* A call site's modules are those of its first walk, even if an older call site has stacks
	 * of the same shape. */
	for (unsigned caller = 0; caller < 6; caller++) {
		const struct leakwrap_modules *now = &snapshots[caller / 2 % 2];

		change_modules(now);
		leakwrap_site_read(walk_from(caller, IN_PLUGIN, stack, high, now), &trace);
		CHECK(trace.modules == now && pcs[2] == 0xb20000 + (uintptr_t)caller * 0x10);
	}
	/* A walk that began with other modules teaches nothing. */
	walk_from(10, IN_PROGRAM, stack, high, &snapshots[1]);
	CHECK(recall_from(10, IN_PROGRAM, stack) == LEAKWRAP_SITE_NONE);
	for (unsigned where = IN_PROGRAM; where <= IN_BOTH; where++)
		check_changes(11 + where, where, stack, high);
	run_on(NULL, NULL);
	return NULL;
}

/* -- stack shapes that mislead ----------------------------------------------------------------- */

static void *mislead(void *unused)
{
	enum { DEEP = 16384, GAP = 2000 };
	static uintptr_t whole[2 * DEEP];
	uintptr_t *high = whole + DEEP, *stack = whole;
	struct made_up made = {
	        .pcs = {0xc00000, 0xc10000, 0xc20000, 0xc30000}, .depth = 4, .gap = GAP};
	const uintptr_t room = (uintptr_t)high - (uintptr_t)stack;
	const uint32_t set = leakwrap_stack_cache_set(room, made.pcs[0]);
	uintptr_t pc = made.pcs[0];
	uint32_t number;

	(void)unused;
	run_on(stack, high);
	number = made_up_walk(&made, stack, high);
	made_up_call(&made, stack);
	CHECK(leakwrap_stack_cache_find(pc, (uintptr_t)stack, 0) == number);
	/* The other caller's stack differs in nothing else. */
	do
		pc++;
	while (leakwrap_stack_cache_set(room, pc) != set);
	CHECK(leakwrap_stack_cache_find(pc, (uintptr_t)stack, 0) == LEAKWRAP_SITE_NONE);
	/* The same stack lies near the stack's end. Behind it lie words that look like its rest. */
	stack = high - (size_t)4 * GAP;
	while (stack < high &&
	       leakwrap_stack_cache_set((uintptr_t)high - (uintptr_t)stack, made.pcs[0]) != set)
		stack++;
	CHECK(stack < high);
	made_up_call(&made, stack);
	CHECK(leakwrap_stack_cache_find(made.pcs[0], (uintptr_t)stack, 0) == LEAKWRAP_SITE_NONE);
	run_on(NULL, NULL);
	return NULL;
}

/* -- callers far apart ------------------------------------------------------------------------- */

/* Two return addresses share an upper half with the first call site's, and lie by every power of
 * two before and behind them. */
enum { APART = 1 + 2 * 30 };

static struct made_up of_apart(unsigned who)
{
	const uint32_t distance = who == 0 ? 0 : UINT32_C(1) << (who + 1) / 2;
	const uint32_t offset = who % 2 == 0 ? distance : -distance;

	return (struct made_up){.pcs = {0xa00000, UINT32_C(0x80000000) + offset,
	                                UINT32_C(0x80000100) + offset, 0xa10000},
	                        .depth = 4,
	                        .gap = 1};
}

static void *be_apart(void *unused)
{
	uintptr_t whole[WORDS], *high = whole + WORDS, *stack = whole + WORDS / 2;
	const uint32_t first = leakwrap_sites_limit();

	(void)unused;
	run_on(whole, high);
	for (unsigned who = 0; who < APART; who++) {
		const struct made_up made = of_apart(who);

		CHECK(made_up_walk(&made, stack, high) == first + who);
	}
	for (unsigned who = 0; who < APART; who++)
		check_kept(of_apart(who), stack, high, first + who);
	run_on(NULL, NULL);
	return NULL;
}

/* -- very many call sites ---------------------------------------------------------------------- */

/* Backtraces of one shape that differ in up to six return addresses. The first 4,096 differ in
 * four. */
enum { CROWD = 6000, CROWD_DEPTH = 40 };

static struct made_up of_crowd(unsigned who)
{
	struct made_up made = {.depth = CROWD_DEPTH, .gap = 1};

	for (unsigned frame = 0; frame < CROWD_DEPTH; frame++)
		made.pcs[frame] = 0x700000 + (uintptr_t)frame * 0x1000;
	for (unsigned digit = 0; digit < 6; digit++)
		made.pcs[2 + digit] += (uintptr_t)(who >> 3 * digit & 7) * 0x10;
	return made;
}

/* Each keeps its number and its backtrace, and is recognized after its second walk, however large
 * the tables become. */
static void check_crowd(uintptr_t *stack, const uintptr_t *high, uint32_t first)
{
	for (unsigned who = 0; who < CROWD; who++) {
		const struct made_up made = of_crowd(who);

		CHECK(made_up_walk(&made, stack, high) == first + who);
	}
	for (unsigned who = 0; who < CROWD; who++)
		check_kept(of_crowd(who), stack, high, first + who);
}

static void *crowd(void *unused)
{
	uintptr_t whole[WORDS], *high = whole + WORDS, *stack = whole + WORDS / 2;
	const uint32_t first = leakwrap_sites_limit();
	size_t held;

	(void)unused;
	run_on(whole, high);
	for (unsigned who = 0; who < CROWD; who++) {
		const struct made_up made = of_crowd(who);

		CHECK(made_up_walk(&made, stack, high) == first + who);
	}
	check_crowd(stack, high, first);
	/* Later backtraces differ in one more frame each. They take no more memory than the
	 * others. */
	held = leakwrap_pages_held();
	for (unsigned frame = 8; frame < CROWD_DEPTH; frame++) {
		struct made_up made = of_crowd(0);

		made.pcs[frame] += 0x10;
		CHECK(made_up_walk(&made, stack, high) == first + CROWD + frame - 8);
	}
	CHECK(leakwrap_pages_held() - held < (size_t)CROWD * CROWD_DEPTH * sizeof(uint32_t) / 2);
	check_crowd(stack, high, first);
	run_on(NULL, NULL);
	return NULL;
}

/* -- no more numbers --------------------------------------------------------------------------- */

/* Returns the number of a stack of DEPTH frames with the return addresses PCS. The table can learn
 * nothing from it. */
static uint32_t number_by_pcs(uintptr_t *pcs, unsigned depth)
{
	struct leakwrap_trace trace = {.pcs = pcs, .max = depth, .depth = depth};
	struct leakwrap_stack bounds = {1, 2, false};

	return leakwrap_site_intern(&trace, &bounds);
}

/* When numbers become scarce, call sites with the same innermost frames share one. */
static void crowd_in(void)
{
	uintptr_t pcs[] = {0x200000, 0x200100, 0x200200, 0x200300, 0x200400, 0x200500};
	uintptr_t kept[6] = {0};
	struct leakwrap_trace leaf = {.pcs = kept};
	uint32_t number, left;

	do {
		left = leakwrap_site_numbers_left();
		pcs[5]++;
		number = number_by_pcs(pcs, 6);
		CHECK(leakwrap_site_numbers_left() == left - 1);
		leakwrap_site_read(number, &leaf);
	} while (leaf.depth == 6);
	CHECK(leakwrap_sites_limit() == LEAKWRAP_SITE_LIMIT);
	CHECK(leaf.depth == 4 && leaf.kind == LEAKWRAP_TRACE_TRUNCATED &&
	      memcmp(kept, pcs, 4 * sizeof(pcs[0])) == 0);
	pcs[5]++;
	CHECK(number_by_pcs(pcs, 6) == number && leakwrap_site_numbers_left() == left - 1);
}

/* When there are no more numbers, call sites are lost and counted. The table keeps nothing of them,
 * whatever their shape. */
static void *crowd_out(void *unused)
{
	enum { LOST = 20000, ENOUGH = 100, WORDS_MAX = 2 * LOST + 1 };
	static uintptr_t stack[WORDS_MAX];
	const uintptr_t *high = stack + WORDS_MAX;
	struct made_up made = {.pcs = {0x300000, 0x300100}, .depth = 1, .gap = 1};
	size_t held = 0;

	(void)unused;
	crowd_in();
	for (uint32_t left; (left = leakwrap_site_numbers_left()) > 0;) {
		made.pcs[0]++;
		CHECK(number_by_pcs(made.pcs, 1) != LEAKWRAP_SITE_LOST);
		CHECK(leakwrap_site_numbers_left() == left - 1);
	}
	made.depth = 2;
	for (unsigned form = 0; form < LOST; form++) {
		made.gap = 1 + form;
		CHECK(made_up_walk(&made, stack, high) == LEAKWRAP_SITE_LOST);
		if (form == ENOUGH)
			held = leakwrap_pages_held();
	}
	CHECK(leakwrap_pages_held() == held);
	CHECK(atomic_exchange(&leakwrap_loss.lost_call_sites, 0) == LOST);
	return NULL;
}

/* -- all --------------------------------------------------------------------------------------- */

/* Numbers lead to what was seen. */
static void check_records(void)
{
	const uint32_t limit = leakwrap_sites_limit();
	/* Threads that add one stack at once take a number each, and only one is used. */
	static bool seen[LEAKWRAP_SITE_FIRST + 1 + THREADS * CHAINS];

	for (unsigned chain = 0; chain < CHAINS; chain++) {
		uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
		struct leakwrap_trace trace = {.pcs = pcs};
		const uint32_t number = atomic_load(&number_of[chain]);

		if (number == 0)
			continue;
		CHECK(number > LEAKWRAP_SITE_FIRST && number < limit && limit <= sizeof(seen));
		seen[number] = true;
		leakwrap_site_read(number, &trace);
		CHECK(trace.depth == depth_of(chain) && trace.kind == LEAKWRAP_TRACE_COMPLETE &&
		      leakwrap_site_kind(number) == LEAKWRAP_TRACE_COMPLETE);
		for (unsigned frame = 0; frame < trace.depth; frame++)
			CHECK(pcs[frame] == pc_of(chain, frame));
	}
}

static void in_thread(void *(*what)(void *), void *argument)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, what, argument) == 0);
	pthread_join(thread, NULL);
}

/* A dump has room for young call sites as soon as one of them must be listed. */
static void list_young(void)
{
	uint32_t number = leakwrap_young_ring_next(); /* it makes the ring */

	CHECK(number == LEAKWRAP_SITE_NONE);
	number = leakwrap_young_ring_next();
	CHECK(leakwrap_site_is_young(number) && number >= leakwrap_sites_limit());
	atomic_store(&leakwrap_young_ring.is_listed, true);
	CHECK(number < leakwrap_sites_limit());
	atomic_store(&leakwrap_young_ring.is_listed, false);
}

int main(void)
{
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < SNAPSHOTS; i++)
		snapshots[i].serial = 1 + i;
	list_young();
	in_thread(vary, NULL);
	in_thread(learn, (void *)(CHAINS / 2));
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, live, (void *)(i + 1)) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	check_records();
	if (IS_SLOW)
		return 0;
	in_thread(share, NULL);
	in_thread(come_and_go, NULL);
	in_thread(mislead, NULL);
	in_thread(be_apart, NULL);
	in_thread(crowd, NULL);
	CHECK(atomic_load(&leakwrap_loss.lost_call_sites) == 0);
	if (!IS_EMULATED)
		in_thread(crowd_out, NULL);
	return 0;
}
