/* common.h - compiler hints, and counters of what a dump cannot show.  Every part of the runtime
 * uses them. */
#ifndef LEAKWRAP_COMMON_H
#define LEAKWRAP_COMMON_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

#define leakwrap_likely(condition)   __builtin_expect(!!(condition), 1)
#define leakwrap_unlikely(condition) __builtin_expect(!!(condition), 0)

/* Marks a condition that no processor could predict: the compiler should not branch on it. */
#ifdef __clang__
#define leakwrap_unpredictable(condition) __builtin_unpredictable(!!(condition))
#elif __GNUC__ < 9
#define leakwrap_unpredictable(condition) (condition)
#else
#define leakwrap_unpredictable(condition) __builtin_expect_with_probability(!!(condition), 1, 0.5)
#endif

/* On a function of the allocation path: always inlined. */
#define LEAKWRAP_INLINE static inline __attribute__((always_inline))

/* On the declaration of a variable that the allocation path reads.  It is accessed directly,
 * without the indirection (GOT) that a variable of another module would need. */
#define LEAKWRAP_HIDDEN __attribute__((visibility("hidden")))

/* Has the largest alignment that a record may need.  Replaces max_align_t, which old C libraries
 * lack, and is also aligned for pairs of words. */
union leakwrap_aligned {
	_Alignas(2 * sizeof(void *)) char pair;
	long long integer;
	long double real;
	void *pointer;
};

/* Counters of the events that a dump cannot show, since the process started or was forked.  Added
 * to with relaxed order: the events are rare and independent of each other. */
struct leakwrap_loss {
	_Atomic unsigned long untracked_blocks; /* without a record: no memory */
	_Atomic unsigned long untracked_bytes;
	_Atomic unsigned long untracked_overflows; /* 32-bit: carries out of untracked_bytes */
	_Atomic unsigned long lost_call_sites;     /* without a backtrace: no memory */
	_Atomic unsigned long freed_elsewhere;     /* addresses allocated again without a free */
	_Atomic unsigned long foreign_frees;       /* frees of blocks that were never recorded */
};

extern struct leakwrap_loss leakwrap_loss;

/* Number of stack walks: stacks that the stack cache did not recognize.  The benchmark reads it. */
extern _Atomic unsigned long leakwrap_walks;

static inline void leakwrap_count(_Atomic unsigned long *counter, unsigned long by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* Counts a block of BYTES bytes that could not be recorded.  A 32-bit processor adds 32 bits
 * atomically, and the sum may need more.  Then it also counts the carry. */
static inline void leakwrap_count_untracked(unsigned long bytes)
{
	leakwrap_count(&leakwrap_loss.untracked_blocks, 1);
	if (atomic_fetch_add_explicit(&leakwrap_loss.untracked_bytes, bytes, memory_order_relaxed) >
	    ULONG_MAX - bytes)
		leakwrap_count(&leakwrap_loss.untracked_overflows, 1);
}

static inline uint64_t leakwrap_untracked_bytes(void)
{
	return ((uint64_t)atomic_load(&leakwrap_loss.untracked_overflows) << 32) +
	       atomic_load(&leakwrap_loss.untracked_bytes);
}

/* Makes the compiler compute VARIABLE here.  Else it may compute the value again at each use. */
#define LEAKWRAP_HIDE_VALUE(variable) __asm__ volatile("" : "+r"(variable))

#endif
