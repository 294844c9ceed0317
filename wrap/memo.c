/* memo.c - see memo.h.
 *
 * A block holds records in a ring of words, the oldest of which are overwritten, and a set-associative index
 * of them.  A record is written where it will stay, while the walk runs:
 *
 *   pc, sp, fp, site | reads << 32 | fp used << 63, the reads
 *
 * Positions count words since the block was taken into use, so that it is known which records have been
 * overwritten. */
#include "memo.h"

#include "arch/arch.h"
#include "modules.h"
#include "port.h"
#include "thread.h"
#include "unwind.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define RING   4096u /* words */
#define SETS   16u
#define WAYS   16u /* many stacks begin alike: a program's own xmalloc is called from everywhere */
#define HEADER 4u

/* A frame takes at most this many reads: the word that fp came from, and where the CFA, the return address
 * and the caller's fp are. */
#define READS_PER_FRAME 4u

/* An index entry: the position of a record, and a tag.  0 is empty: positions start at RING. */
#define TAG_BITS 16

struct leakwrap_memo {
	struct leakwrap_memo *next; /* all blocks, newest first */
	_Atomic int thread;         /* whose it is; 0: nobody's */
	_Atomic int process;
	unsigned generation; /* of the modules */
	unsigned changes;    /* how many walks have begun */
	uintptr_t busy;      /* sp of the walk that is running, or 0 */
	uint64_t position;   /* where the next record goes */
	uint64_t floor;      /* what lies below has been overwritten */
	uint64_t index[SETS][WAYS];
	leakwrap_memo_word ring[RING];
};

static struct leakwrap_memo *_Atomic blocks;

/* For threads that get no block: always busy. */
static struct leakwrap_memo no_memo = {.busy = UINTPTR_MAX};

/* Between a thread and its signal handlers the compiler alone must keep the order. */
static inline void fence(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* -- blocks -------------------------------------------------------------------------------------- */

static void clear(struct leakwrap_memo *memo)
{
	memset(memo->index, 0, sizeof(memo->index));
	memo->position = memo->floor = RING;
	memo->generation = leakwrap_modules_generation();
	fence();
	memo->busy = 0;
}

/* How many blocks a new thread looks at before it maps one more. */
#define LOOK_AT 8

/* A block whose thread has ended: one of a few, so that many living threads cost a new one nothing. */
static struct leakwrap_memo *take_over(int process, int thread)
{
	static struct leakwrap_memo *_Atomic looked_at;
	struct leakwrap_memo *memo = atomic_load(&looked_at);

	for (unsigned i = 0; i < LOOK_AT; i++) {
		int owner;

		memo = memo && memo->next ? memo->next
		                          : atomic_load_explicit(&blocks, memory_order_acquire);
		if (!memo)
			return NULL;
		owner = atomic_load(&memo->thread);
		/* This thread has no block: one with its number is that of an earlier thread. */
		if ((owner == 0 || (atomic_load(&memo->process) == process &&
		                    (owner == thread || leakwrap_thread_has_ended(process, owner)))) &&
		    atomic_compare_exchange_strong(&memo->thread, &owner, thread)) {
			atomic_store(&looked_at, memo);
			return memo;
		}
	}
	atomic_store(&looked_at, memo);
	return NULL;
}

static struct leakwrap_memo *map_block(int thread)
{
	struct leakwrap_memo *memo = leakwrap_pages_map(sizeof(*memo));

	if (!memo)
		return &no_memo;
	atomic_store(&memo->thread, thread);
	memo->next = atomic_load(&blocks);
	while (!atomic_compare_exchange_weak(&blocks, &memo->next, memo))
		;
	return memo;
}

static __attribute__((noinline)) struct leakwrap_memo *find_block(void)
{
	int process = leakwrap_process_id();
	int thread = leakwrap_thread_id();
	struct leakwrap_memo *memo = take_over(process, thread);

	if (!memo)
		memo = map_block(thread);
	if (memo != &no_memo) {
		atomic_store(&memo->process, process);
		clear(memo);
	}
	leakwrap_self.memo = memo;
	return memo;
}

void leakwrap_memo_forked(void)
{
	struct leakwrap_memo *memo = atomic_load(&blocks);

	for (; memo; memo = memo->next) {
		bool mine = memo == leakwrap_self.memo;

		atomic_store(&memo->process, leakwrap_process_id());
		atomic_store(&memo->thread, mine ? leakwrap_thread_id() : 0);
	}
}

/* -- records ------------------------------------------------------------------------------------- */

static inline uint64_t hash(uintptr_t pc, uintptr_t sp)
{
	return ((uint64_t)pc + (uint64_t)sp * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
}

static inline uint64_t *set_of(struct leakwrap_memo *memo, uint64_t hashed)
{
	return memo->index[hashed >> 32 & (SETS - 1)];
}

static inline uint64_t tag_of(uint64_t hashed)
{
	return hashed >> (64 - TAG_BITS);
}

static inline bool is_unchanged(leakwrap_memo_word read, uintptr_t sp)
{
	uintptr_t place = (uintptr_t)(read & LEAKWRAP_MEMO_PLACE_MAX) * sizeof(uintptr_t);

	return LEAKWRAP_STRIP(leakwrap_stack_word(sp + place)) == read >> LEAKWRAP_MEMO_PLACE_BITS;
}

/* How many of the COUNT reads, from FIRST on, find the words of the stack as they were, until one does not. */
static inline unsigned count_unchanged(const leakwrap_memo_word *reads, unsigned first, unsigned count,
                                       uintptr_t sp)
{
	while (first < count && is_unchanged(reads[first], sp))
		first++;
	return first;
}

uint32_t leakwrap_memo_find(const struct leakwrap_stack *stack, uintptr_t pc, uintptr_t sp,
                            uintptr_t fp)
{
	struct leakwrap_memo *memo = leakwrap_self.memo;
	uint64_t hashed = hash(pc, sp), tag = tag_of(hashed);
	const uint64_t *set;
	unsigned changes, known = 0;

	if (leakwrap_unlikely(!memo || stack->foreign || memo->busy != 0 ||
	                      memo->generation != leakwrap_modules_generation()))
		return 0;
	changes = memo->changes;
	fence();
	set = set_of(memo, hashed);
	for (unsigned way = 0; way < WAYS; way++) {
		uint64_t position = set[way] >> TAG_BITS;
		const leakwrap_memo_word *record = &memo->ring[position % RING];
		unsigned count, same;

		if ((set[way] & (((uint64_t)1 << TAG_BITS) - 1)) != tag || position < memo->floor)
			continue;
		if (record[0] != pc || record[1] != sp || (record[3] >> 63 && record[2] != fp))
			continue;
		/* Records with the same start read the same words up to the first that differs.  So what
		 * stopped the last comparison stops most of the others at once. */
		count = (unsigned)(record[3] >> 32 & 0x7fffffff);
		same = count_unchanged(record + HEADER, known, count, sp);
		if (same == count && count_unchanged(record + HEADER, 0, known, sp) >= known) {
			uint32_t site = (uint32_t)record[3];

			fence();
			/* A signal handler may have written over the record meanwhile. */
			return memo->changes == changes ? site : 0;
		}
		if (same > known && same < count)
			known = same;
	}
	return 0;
}

struct leakwrap_reads *leakwrap_memo_begin(struct leakwrap_reads *reads,
                                           const struct leakwrap_stack *stack, unsigned max,
                                           uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	struct leakwrap_memo *memo = leakwrap_self.memo;
	uint64_t room = HEADER + READS_PER_FRAME * max;
	leakwrap_memo_word *record;

	if (stack->foreign)
		return NULL;
	if (!memo)
		memo = find_block();
	if (memo->busy != 0) {
		/* Below the walk that is running: this is a signal handler.  Above: that walk was left by a
		 * longjmp, and nobody knows how much of it was written. */
		if (sp < memo->busy)
			return NULL;
		clear(memo);
	}
	if (memo->generation != leakwrap_modules_generation())
		clear(memo);
	memo->busy = sp;
	memo->changes++;
	fence();
	if (RING - memo->position % RING < room)
		memo->position += RING - memo->position % RING;
	record = &memo->ring[memo->position % RING];
	record[0] = pc;
	record[1] = sp;
	record[2] = fp;
	reads->next = record + HEADER;
	reads->sp = sp;
	reads->fp_used = false;
	reads->usable = false;
	return reads;
}

void leakwrap_memo_end(struct leakwrap_reads *reads, uint32_t site)
{
	struct leakwrap_memo *memo = leakwrap_self.memo;
	leakwrap_memo_word *record;
	uint64_t hashed, count, behind;
	uint64_t *set;

	if (!reads)
		return;
	record = &memo->ring[memo->position % RING];
	count = (uint64_t)(reads->next - record) - HEADER;
	behind = memo->position + HEADER + count;
	if (behind - RING > memo->floor)
		memo->floor = behind - RING;
	if (reads->usable && site != 0) {
		record[3] = site | count << 32 | (uint64_t)reads->fp_used << 63;
		hashed = hash((uintptr_t)record[0], (uintptr_t)record[1]);
		set = set_of(memo, hashed);
		memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
		set[0] = memo->position << TAG_BITS | tag_of(hashed);
		memo->position = behind;
	}
	fence();
	memo->busy = 0;
}
