/* signal_vectors.c - holds vectors of connections as objects of Qt do: a list of those that are no
 * longer in use, each by a pointer with a mark in its lowest bit.  Other such pointers lead to
 * blocks that are none: of one the number of signals is another, one has no such number, and two
 * have numbers for the addresses of connections. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { VECTORS = 20, STEP = 8, OTHERS = 4 };

struct connections {
	void *first, *last;
};

/* Like struct QObjectPrivate::SignalVector of Qt 6 (src/corelib/kernel/qobject_p_p.h). */
struct vector {
	uintptr_t next, signals;
	struct connections of[];
};

static volatile uintptr_t orphaned, others[OTHERS];
static void *connection[4];

static NOINLINE struct vector *make(unsigned signals)
{
	struct vector *const made =
	        calloc(1, sizeof(*made) + (signals + 1) * sizeof(struct connections));

	made->signals = signals;
	return made;
}

static NOINLINE void make_orphans(void)
{
	for (unsigned i = 1; i <= VECTORS; i++) {
		struct vector *const made = make(i * STEP);

		made->of[i % 2].first = made->of[i % 2].last = connection;
		made->next = orphaned;
		orphaned = (uintptr_t)made | 1;
	}
}

static NOINLINE void make_others(void)
{
	struct vector *other[OTHERS];

	for (unsigned i = 0; i < OTHERS; i++) {
		other[i] = make(STEP);
		others[i] = (uintptr_t)other[i] | 1;
	}
	other[0]->signals = (uintptr_t)2 * STEP;
	other[1]->signals = 0;
	other[2]->of[0].first = other[2]->of[0].last = (void *)(uintptr_t)STEP;
	other[3]->of[1].last = connection;
	for (unsigned i = 0; i < OTHERS; i++)
		other[i] = NULL;
}

int main(void)
{
	make_orphans();
	make_others();
	clear_stack();
	return raise(SIGUSR1);
}
