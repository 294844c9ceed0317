/* every.h - for a program that calls every wrapped function once, each in a function of its own.
 *
 * CASE(name) is such a function, called_name. It hands its blocks to keep(). It prints everything
 * that it finds out, so that the test can compare the traced program with the untraced program.
 * "program leak" keeps the blocks and prints "leaks called_name BYTES BLOCKS HOW" for each case.
 * HOW is "exact", or "least" if the C library may take more. "program free" frees the blocks. */
#ifndef EVERY_H
#define EVERY_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
#define CASE(name) extern "C" __attribute__((noinline)) void called_##name()
extern "C" {
#else
#define CASE(name) __attribute__((noinline)) void called_##name(void)
#endif

typedef void releaser(void *block);

/* The running case has allocated BLOCK of BYTES. RELEASE frees it. */
void keep(void *block, size_t bytes, releaser *release);

/* Says that the bytes of the running case's blocks are a lower bound. */
void at_least(void);

/* Prints what the case found out. */
#define say(...) (printf("  "), printf(__VA_ARGS__), puts(""))

struct case_entry {
	const char *name;
	void (*function)(void);
};

/* Runs CASES, up to a case without a name, in the way that ARGUMENT says. Returns the exit
 * status. */
int run_cases(const struct case_entry *cases, const char *argument);

#ifdef __cplusplus
}
#endif

#endif
