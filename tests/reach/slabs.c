/* slabs.c - holds blocks as allocators of programs do, and trees as tsearch does. */
#include <search.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"

enum { PLACES = 4, PAGES = 100, KEYS = 1000 };

static char *volatile places[3 * PLACES];
static char *volatile pages[3];
static void *volatile tree;
static int keys[KEYS];

/* A page is in front of its header, which leads back to it, as in SQLite. */
struct header {
	char *page;
	struct header *next;
};

enum { PAGE = 400 };

static int compare(const void *left, const void *right)
{
	return (*(const int *)left > *(const int *)right) -
	       (*(const int *)left < *(const int *)right);
}

/* Keeps COUNT pointers to different places of a new block of SIZE bytes, from places[FIRST] on. */
static void keep_places(unsigned first, unsigned count, size_t size)
{
	char *const block = malloc(size);

	*(uintptr_t *)(void *)block = SIZE_MAX; /* it is no array, and says nothing of one */
	for (unsigned i = 0; i < count; i++)
		places[first + i] = block + (i + 1) * sizeof(void *);
}

/* A list of pages, each with a 64-bit LENGTH in front, or without. */
static char *make_pages(size_t length)
{
	struct header *list = NULL;

	for (int i = 0; i < PAGES; i++) {
		char *const block = malloc(length + PAGE + sizeof(struct header));
		struct header *const header = (void *)(block + length + PAGE);

		if (length > 0)
			*(uint64_t *)(void *)block = PAGE + sizeof(struct header);
		header->page = block + length;
		header->next = list;
		list = header;
	}
	return (char *)list;
}

static void make_tree(void)
{
	void *root = NULL;

	for (int i = 0; i < KEYS; i++) {
		keys[i] = i * 7919 % KEYS;
		if (!tsearch(&keys[i], &root, compare))
			abort();
	}
	tree = root;
}

static NOINLINE void lose_slab(void)
{
	char *volatile *const lost = malloc(PLACES * sizeof(*lost));
	char *const block = malloc(1234);

	for (unsigned i = 0; i < PLACES; i++)
		lost[i] = block + (i + 1) * sizeof(void *);
}

int main(void)
{
	keep_places(0, PLACES, 1000);                             /* a slab */
	keep_places(PLACES, PLACES - 1, 2000);                    /* too few places */
	keep_places(2 * PLACES, PLACES, 23 * sizeof(void *) + 1); /* too small */
	pages[0] = make_pages(0);
	pages[1] = make_pages(sizeof(uint64_t));
	/* This header leads elsewhere, and holds no other page. */
	pages[2] = make_pages(0);
	((struct header *)(void *)pages[2])->page++;
	((struct header *)(void *)pages[2])->next = NULL;
	make_tree();
	lose_slab();
	clear_stack();
	return raise(SIGUSR1);
}
