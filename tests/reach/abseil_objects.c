/* abseil_objects.c - holds blocks as Abseil does: generators of random numbers at the first
 * multiple of 64, and errors by pointers with a mark in the lowest bit.  One generator has taken
 * more numbers than there are, and one error has no owner.  Pointers lead to the same places of two
 * blocks that are as large, and hold records and small numbers.  Then the program asks for a
 * dump. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { ALIGNMENT = 64, GENERATORS = 8, ERRORS = 10 };

struct generator {
	uint32_t state[64];
	uint32_t lock;
	const void *keys;
	_Bool has_crypto;
	size_t next;
};

struct error {
	uint32_t owners;
	uint32_t code;
	char *characters;
	size_t length;
	char inside[16];
	void *payloads;
};

struct record {
	uintptr_t number;
	const void *name;
	uintptr_t is_used, rank;
};

static const uint64_t keys[4] = {1};

static struct generator *volatile generators[GENERATORS];
static volatile uintptr_t errors[ERRORS];
static struct record *volatile record;
static volatile uintptr_t numbers;

/* Returns the first multiple of ALIGNMENT in a block of a generator's size, filled with zeros.
 * Only a generator that does not begin with its block tells the rule from none. */
static void *allocate_aligned(void)
{
	char *block = calloc(1, sizeof(struct generator) + ALIGNMENT);

	while ((uintptr_t)block % ALIGNMENT == 0)
		block = calloc(1, sizeof(struct generator) + ALIGNMENT);
	return block + ALIGNMENT - (uintptr_t)block % ALIGNMENT;
}

static struct generator *make_generator(size_t taken)
{
	struct generator *const made = allocate_aligned();

	*made = (struct generator){.keys = keys, .next = taken};
	for (uint32_t i = 0; i < 64; i++)
		made->state[i] = (i + 1) * 0x9e3779b1u;
	return made;
}

static struct record *make_records(void)
{
	struct record *const made = allocate_aligned();

	for (size_t i = 0; i <= sizeof(struct generator) / sizeof(*made) - 1; i++)
		made[i] = (struct record){i, keys, 1, i};
	return made;
}

static uintptr_t make_numbers(void)
{
	void *const block = malloc(sizeof(struct error));
	uint32_t *const made = block;

	for (uint32_t i = 0; i < sizeof(struct error) / sizeof(*made); i++)
		made[i] = 1 + i % 3;
	made[sizeof(struct error) / sizeof(*made) - 1] = 0;
	made[sizeof(struct error) / sizeof(*made) - 2] = 0;
	return (uintptr_t)made + 1;
}

static uintptr_t make_error(uint32_t owners)
{
	struct error *const made = malloc(sizeof(*made));

	*made = (struct error){.owners = owners, .code = 14, .length = 3, .inside = "bad"};
	made->characters = made->inside;
	return (uintptr_t)made + 1;
}

int main(void)
{
	for (size_t i = 0; i < GENERATORS; i++)
		generators[i] = make_generator(i == 0 ? 65 : 64 - i);
	for (uint32_t i = 0; i < ERRORS; i++)
		errors[i] = make_error(i);
	record = make_records();
	numbers = make_numbers();
	clear_stack();
	return raise(SIGUSR1);
}
