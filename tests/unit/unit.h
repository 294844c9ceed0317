/* unit.h - shared by the unit tests. A unit test links parts of the runtime or of the tool without
 * the rest, and runs under sanitizers (unit.sh). */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"

/* Whether ThreadSanitizer makes each step slow.  It finds nothing in what one thread does alone, so
 * a unit may leave such parts to the other sanitizers, and its threads may take fewer steps. */
#if defined __SANITIZE_THREAD__ && !defined UNIT_LONG
#define IS_SLOW true
#else
#define IS_SLOW false
#endif

/* Whether an emulated processor makes each step slow (word_sizes.sh). */
#ifdef UNIT_IS_EMULATED
#define IS_EMULATED true
#else
#define IS_EMULATED false
#endif

#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

#endif
