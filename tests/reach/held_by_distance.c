/* held_by_distance.c - holds blocks by the distances to them, as fontconfig does.  Similar blocks
 * hold nothing: one of their numbers is another. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { KEPT = 50, ROOM = 16, LEAVES = 8, USED = 5, FALSE_PATTERNS = 6, FALSE_SETS = 4 };

/* Like struct _FcPattern and _FcPatternElt of fontconfig (src/fcint.h). */
struct pattern {
	int used, room;
	intptr_t elements;
	int owners;
};

struct element {
	int property;
	char *values;
};

/* Like struct _FcCharSet and _FcCharLeaf. */
struct characters {
	int owners, count;
	intptr_t leaves, numbers;
};

struct leaf {
	uint32_t map[8];
};

static struct pattern *volatile patterns[KEPT + FALSE_PATTERNS];
static struct characters *volatile sets[KEPT + FALSE_SETS];
static char name[] = "name";
static char *volatile pool, *volatile part; /* of the pool */

/* Returns the distance from FROM to TO. */
static intptr_t distance(const void *from, const void *to)
{
	return (intptr_t)((uintptr_t)to - (uintptr_t)from);
}

/* Makes a pattern in a block with MORE bytes than it has.  The distance is negative. */
static struct pattern *make_pattern(int used, int room, size_t more)
{
	struct element *const elements = calloc(ROOM, sizeof(*elements));
	struct pattern *const pattern = calloc(1, sizeof(*pattern) + more);

	for (int i = 0; i < USED; i++)
		elements[i] = (struct element){i + 1, name};
	*pattern = (struct pattern){used, room, distance(pattern, elements), 1};
	return pattern; /* cppcheck-suppress memleak ; the pattern holds them */
}

static struct characters *make_set(int owners, size_t numbers_size, size_t leaf_size)
{
	struct characters *const set = calloc(1, sizeof(*set));
	intptr_t *const leaves = calloc(LEAVES, sizeof(*leaves));
	uint16_t *const numbers = calloc(1, numbers_size);

	for (int i = 0; i < USED; i++)
		leaves[i] = distance(leaves, calloc(1, leaf_size));
	*set = (struct characters){owners, USED, distance(set, leaves), distance(set, numbers)};
	return set; /* cppcheck-suppress memleak ; the set holds them */
}

/* Makes a pool whose header, in front of its only part, looks like a pattern. */
static NOINLINE void make_pool(void)
{
	struct pattern *const pattern = make_pattern(USED, ROOM, 1024);

	pool = (char *)pattern;
	part = (char *)(pattern + 1);
	leakwrap_record(part, 1024);
}

static NOINLINE void make_others(void)
{
	patterns[KEPT] = make_pattern(USED, ROOM, 0);
	patterns[KEPT]->owners = 0;
	patterns[KEPT + 1] = make_pattern(USED, ROOM + 1, 0);
	patterns[KEPT + 2] = make_pattern(ROOM + 1, ROOM, 0);
	patterns[KEPT + 3] = make_pattern(0, ROOM, 0);
	patterns[KEPT + 4] = make_pattern(USED, ROOM, 0);
	patterns[KEPT + 4]->elements += (intptr_t)sizeof(struct element);
	patterns[KEPT + 5] = make_pattern(USED, ROOM, sizeof(void *));
	sets[KEPT] = make_set(1, LEAVES * sizeof(uint16_t) + 2, sizeof(struct leaf));
	sets[KEPT + 1] = make_set(1, LEAVES * sizeof(uint16_t), sizeof(struct leaf) + 1);
	sets[KEPT + 2] = make_set(0, LEAVES * sizeof(uint16_t), sizeof(struct leaf));
	sets[KEPT + 3] = make_set(1, LEAVES * sizeof(uint16_t), sizeof(struct leaf));
	sets[KEPT + 3]->count = LEAVES + 1;
}

int main(void)
{
	for (int i = 0; i < KEPT; i++) {
		patterns[i] = make_pattern(1 + i % USED, ROOM, 0);
		sets[i] = make_set(1 + i, LEAVES * sizeof(uint16_t), sizeof(struct leaf));
	}
	make_others();
	make_pool();
	clear_stack();
	return raise(SIGUSR1);
}
