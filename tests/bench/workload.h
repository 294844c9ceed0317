/* workload.h - the arguments of the benchmark's whole programs.
 *
 *   PROGRAM PERCENT [keep]
 *
 * A program does PERCENT of its full work, which takes one or two seconds untraced. With "keep" it
 * ends where it holds most, so that a tool's report of live memory can be judged. Each program is
 * compiled as its user would, without frame pointers, and does the same at each run. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where functions lie in their cache lines changes the time of a program by up to 2 %.  A program's
 * code and its archives' code begin at a multiple of 4,096 bytes, whatever the linker puts in
 * front: so they lie alike in the untraced and in the traced program (bench.mk has a flag for
 * main). */
__asm__(".pushsection .text\n"
        "\t.balign 4096\n"
        "\t.popsection");

struct workload {
	unsigned percent;
	bool keep;
};

static inline struct workload workload_of(int argc, char **argv)
{
	struct workload workload = {.percent = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0,
	                            .keep = argc > 2 && strcmp(argv[2], "keep") == 0};

	if (workload.percent == 0 || argc > 3 || (argc == 3 && !workload.keep)) {
		fprintf(stderr, "usage: %s PERCENT [keep]\n", argv[0]);
		exit(2);
	}
	return workload;
}

/* Returns PERCENT of FULL, at least 1. */
static inline unsigned workload_part(const struct workload *workload, unsigned full)
{
	unsigned part = (unsigned)((unsigned long long)full * workload->percent / 100);

	return part ? part : 1;
}

/* The tracer's counter of walks, if there is a tracer. */
extern _Atomic unsigned long leakwrap_walks __attribute__((weak));

static __attribute__((destructor)) void workload_tell_walks(void)
{
	if (&leakwrap_walks)
		fprintf(stderr, "walks=%lu\n", leakwrap_walks);
}

static inline unsigned workload_random(unsigned *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static inline void workload_check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "failed: %s\n", what);
		exit(1);
	}
}

#endif
