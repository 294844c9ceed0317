/* every.h - for a program that calls every wrapped function once, each in a function of its own.
 *
 * CASE(name) is such a function, called_name.  It hands its blocks to keep(); everything that it finds out
 * it prints, so that the traced program can be compared with the untraced one.  "program leak" leaves
 * the blocks alone and prints "leaks called_name BYTES BLOCKS HOW" for each case, HOW being "exact", or
 * "least" where the C library may take more; "program free" frees them. */
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

/* BLOCK of BYTES was allocated by the running case, and RELEASE frees it. */
void keep(void *block, size_t bytes, releaser *release);

/* The bytes of the running case's blocks are a lower bound. */
void at_least(void);

/* The case prints what it found out. */
#define say(...) (printf("  "), printf(__VA_ARGS__), puts(""))

struct case_entry {
	const char *name;
	void (*function)(void);
};

/* Runs CASES, up to one without a name, in the way that ARGUMENT says.  Returns the exit status. */
int run_cases(const struct case_entry *cases, const char *argument);

#ifdef __cplusplus
}
#endif

#endif
