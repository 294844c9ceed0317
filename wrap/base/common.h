/* common.h - compiler hints that every part of the runtime uses. */
#ifndef LEAKWRAP_COMMON_H
#define LEAKWRAP_COMMON_H

#define leakwrap_likely(condition)   __builtin_expect(!!(condition), 1)
#define leakwrap_unlikely(condition) __builtin_expect(!!(condition), 0)

/* For a condition that is rarer than another unlikely one: gcc puts the code of the other one
 * first. */
#if defined __clang__ || __GNUC__ < 9
#define leakwrap_rarely(condition) leakwrap_unlikely(condition)
#else
#define leakwrap_rarely(condition) __builtin_expect_with_probability(!!(condition), 0, 0.995)
#endif

/* Marks a condition that no processor could predict: the compiler should not branch on it. */
#ifdef __clang__
#define leakwrap_unpredictable(condition) __builtin_unpredictable(!!(condition))
#elif __GNUC__ < 9
#define leakwrap_unpredictable(condition) (condition)
#else
#define leakwrap_unpredictable(condition) __builtin_expect_with_probability(!!(condition), 1, 0.5)
#endif

/* On a function of the fast path: always inlined. */
#define LEAKWRAP_INLINE static inline __attribute__((always_inline))

/* On the declaration of a variable that the fast path reads.  It is accessed directly, without the
 * indirection (GOT) that a variable of another module would need. */
#define LEAKWRAP_HIDDEN __attribute__((visibility("hidden")))

/* On the definition of a table of which a program uses few pages, or none.  The makefile puts these
 * tables apart from the runtime's other variables, so that the other variables fill few pages.  All
 * bytes of a table are 0 at the start. */
#ifndef LEAKWRAP_BARE
#define LEAKWRAP_TABLE __attribute__((section(".bss.leakwrap_tables")))
#else
#define LEAKWRAP_TABLE
#endif

/* Puts a function into the section by which the runtime knows its own code (return_address.h).  The
 * makefile moves the code of the archives there.  This is for functions outside of the archives. */
#ifndef LEAKWRAP_BARE
#define LEAKWRAP_OWN_CODE __attribute__((section("leakwrap_own_code")))
#else
#define LEAKWRAP_OWN_CODE
#endif

/* Has the largest alignment that a record may need.  Replaces max_align_t, which old C libraries
 * lack, and is also aligned for pairs of words. */
union leakwrap_aligned {
	_Alignas(2 * sizeof(void *)) char pair;
	long long integer;
	long double real;
	void *pointer;
};

/* Makes the compiler compute VARIABLE here.  Else it may compute the value again at each use. */
#define LEAKWRAP_HIDE_VALUE(variable) __asm__ volatile("" : "+r"(variable))

/* Reads the _Atomic TYPE at ADDRESS in ORDER: relaxed or acquire.  The compiler may move later
 * reads before it, unless atomic_signal_fence stands between.
 *
 * On x86 every load is in acquire order (Intel SDM, volume 3A, section 9.2.2 "Memory Ordering in P6
 * and More Recent Processor Families").  There a plain load becomes part of the instruction that
 * uses it; gcc keeps an atomic load apart. */
#if (defined __x86_64__ || defined __i386__) && !defined __SANITIZE_THREAD__
#define LEAKWRAP_LOAD_OPERAND(type, address, order) (*(type const *)(address))
#else
#define LEAKWRAP_LOAD_OPERAND(type, address, order) atomic_load_explicit(address, order)
#endif

/* Reads the _Atomic pointer at ADDRESS into POINTER, so that what is read through POINTER is not
 * older than POINTER.  An address dependency orders the reads on all processors but Alpha (Linux,
 * Documentation/memory-barriers.txt, "Address-dependency barriers"), so no barrier is needed.  The
 * compiler does not know POINTER, and so cannot guess it.  gcc for ARM would copy POINTER after a
 * load of its own.  On x86 an acquire load is a plain load. */
#if defined __arm__ && (!defined __thumb__ || defined __thumb2__) && !defined __SANITIZE_THREAD__
#define LEAKWRAP_LOAD_POINTER(pointer, address) \
	__asm__ volatile("ldr %0, %1" : "=r"(pointer) : "m"(*(address)))
#elif (defined __aarch64__ || defined __riscv) && !defined __SANITIZE_THREAD__
#define LEAKWRAP_LOAD_POINTER(pointer, address)                                  \
	do {                                                                     \
		(pointer) = atomic_load_explicit(address, memory_order_relaxed); \
		LEAKWRAP_HIDE_VALUE(pointer);                                    \
	} while (0)
#else
#define LEAKWRAP_LOAD_POINTER(pointer, address) \
	((pointer) = atomic_load_explicit(address, memory_order_acquire))
#endif

/* Keeps POINTER, the address of a thread-local variable, in a register.  On ARM each use of the
 * variable itself would find the address again, in three or four instructions.  Elsewhere the
 * address is part of the instruction that uses it. */
#if defined __arm__ || defined __aarch64__
#define LEAKWRAP_KEEP_ADDRESS(pointer) LEAKWRAP_HIDE_VALUE(pointer)
#else
#define LEAKWRAP_KEEP_ADDRESS(pointer) ((void)0)
#endif

#endif
