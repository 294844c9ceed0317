/* common.h - the few things that every part of the runtime uses. */
#ifndef LEAKWRAP_COMMON_H
#define LEAKWRAP_COMMON_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

#define leakwrap_likely(condition)   __builtin_expect(!!(condition), 1)
#define leakwrap_unlikely(condition) __builtin_expect(!!(condition), 0)

/* A condition that no processor could predict: nothing is to branch on it. */
#ifdef __clang__
#define leakwrap_unpredictable(condition) __builtin_unpredictable(!!(condition))
#elif __GNUC__ < 9
#define leakwrap_unpredictable(condition) (condition)
#else
#define leakwrap_unpredictable(condition) __builtin_expect_with_probability(!!(condition), 1, 0.5)
#endif

/* For what the allocation path is made of. */
#define LEAKWRAP_INLINE static inline __attribute__((always_inline))

/* On the declaration of a variable that the allocation path reads: it is reached without the detour that a variable
 * of another module would need. */
#define LEAKWRAP_HIDDEN __attribute__((visibility("hidden")))

/* Aligned for anything: max_align_t, which old C libraries do not have, and pairs of words. */
union leakwrap_aligned {
	_Alignas(2 * sizeof(void *)) char pair;
	long long integer;
	long double real;
	void *pointer;
};

/* What a dump cannot show, counted since the process started or was forked.  Relaxed additions: these
 * events are rare, and each is a loss of its own. */
struct leakwrap_loss {
	_Atomic unsigned long untracked_blocks; /* no memory for the record */
	_Atomic unsigned long untracked_bytes;
	_Atomic unsigned long untracked_overflows; /* of the sum before, where it has 32 bits */
	_Atomic unsigned long lost_call_sites;     /* no memory for the backtrace */
	_Atomic unsigned long freed_elsewhere;     /* the address came back without a free */
	_Atomic unsigned long foreign_frees;       /* the block was never recorded */
};

extern struct leakwrap_loss leakwrap_loss;

/* Stacks that were walked because they were not recognized.  For the benchmark, which reads it. */
extern _Atomic unsigned long leakwrap_walks;

static inline void leakwrap_count(_Atomic unsigned long *counter, unsigned long by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* A block of so many BYTES could not be recorded.  They may be more in the end than a 32-bit processor can add to atomically. */
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

/* VARIABLE has its value from here on: else a compiler may keep what it is made of, to make it where it is used. */
#define LEAKWRAP_HIDE_VALUE(variable) __asm__ volatile("" : "+r"(variable))

#endif
