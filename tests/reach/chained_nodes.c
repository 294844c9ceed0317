/* chained_nodes.c - holds objects by nodes in the middle of them that have one link: those of a
 * stack, of a queue, and of hash tables of Userspace RCU.  Similar words are none of these. */
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 50, LOST = 3, OTHERS = 8, BUCKETS = 16, NAME = 3 };

struct link {
	struct link *volatile next;
};

struct item {
	uintptr_t name[NAME];
	struct link link;
};

/* The bits of the hash are in reverse order; the three lowest bits of the link are marks. */
struct node {
	uintptr_t volatile next;
	uintptr_t hash;
} __attribute__((aligned(8)));

struct entry {
	uintptr_t name[NAME];
	struct node node;
};

/* Much larger than an entry, so that no node is at the same place in a block of its size. */
struct large_entry {
	uintptr_t name[20];
	struct node node;
};

#define IS_BUCKET ((uintptr_t)2)
#define END_MARK  ((struct link *)1)

static struct link *volatile stack = END_MARK; /* it ends as liburcu's wait-free stack does */
static struct link first, *volatile last = &first;
static struct node *volatile tables[2];
static struct node *volatile crowded;
static void *volatile others[OTHERS];

static struct item *new_item(void)
{
	return calloc(1, sizeof(struct item));
}

static void push(void)
{
	struct item *const item = new_item();

	item->link.next = stack;
	stack = &item->link;
}

static void append(void)
{
	struct item *const item = new_item();

	last->next = &item->link;
	last = &item->link;
}

static uintptr_t reversed(uintptr_t number)
{
	uintptr_t bits = 0;

	for (unsigned i = 0; i < CHAR_BIT * sizeof(number); i++)
		bits |= (number >> i & 1) << (CHAR_BIT * sizeof(number) - 1 - i);
	return bits;
}

/* Puts NODE into the chain from START on, before the first one with a larger hash. */
static void chain(struct node *start, struct node *node)
{
	struct node *before = start, *next;

	while ((next = (struct node *)(before->next & ~IS_BUCKET)) && next->hash <= node->hash)
		before = next;
	node->next |= (uintptr_t)next;
	before->next = (uintptr_t)node | (before->next & IS_BUCKET);
}

static struct node *new_table(unsigned buckets)
{
	struct node *const table = calloc(buckets, sizeof(*table));

	for (unsigned i = 0; i < buckets; i++) {
		table[i].next = IS_BUCKET;
		table[i].hash = reversed(i);
		if (i > 0)
			chain(table, &table[i]);
	}
	return table;
}

static struct node *new_entry(uintptr_t hash)
{
	struct node *node;

	if (hash % 2 == 0)
		node = &((struct entry *)calloc(1, sizeof(struct entry)))->node;
	else
		node = &((struct large_entry *)calloc(1, sizeof(struct large_entry)))->node;
	node->hash = reversed(hash);
	return node;
}

/* Holds objects by words that are no nodes of a list: one leads elsewhere in an item, one to
 * itself, one nowhere, one has a number, and to one a word leads that is elsewhere in an item. */
static NOINLINE void make_false_items(void)
{
	struct item *item[5], *const holder = new_item();

	for (unsigned i = 0; i < 5; i++)
		item[i] = new_item();
	for (unsigned i = 0; i < 4; i++)
		others[i] = &item[i]->link;
	item[0]->link.next = (struct link *)&new_item()->name[1];
	others[7] = item[0]->link.next;
	item[1]->link.next = &item[1]->link;
	item[3]->link.next = (struct link *)((uintptr_t)1 << (CHAR_BIT * sizeof(uintptr_t) - 2));
	others[4] = holder;
	holder->name[2] = (uintptr_t)&item[4]->link;
}

/* Holds objects by words that are no nodes of a table: one has a larger hash than what follows, one
 * leads to no bucket. */
static NOINLINE void make_false_entries(void)
{
	struct node *const small = new_entry(1), *const free = new_entry(2);

	small->next = (uintptr_t)&tables[0][1];
	small->hash = ~(uintptr_t)0;
	others[5] = small;
	free->next = (uintptr_t)others;
	others[6] = free;
}

static NOINLINE void make_all(void)
{
	tables[0] = new_table(BUCKETS);
	tables[1] = new_table(2 * KEPT);
	crowded = new_table(2);
	for (unsigned i = 0; i < KEPT; i++) {
		push();
		append();
		chain(tables[0], new_entry(i * 7 + 1));
		chain(tables[1], new_entry(i * 2 + 1));
		chain(crowded, new_entry(i));
	}
	for (int i = 0; i < LOST; i++)
		new_item()->name[0] = 1;
}

int main(void)
{
	make_all();
	make_false_items();
	make_false_entries();
	clear_stack();
	return raise(SIGUSR1);
}
