/* abseil_objects.c - holds blocks as Abseil does: generators of random numbers at the first
 * multiple of 64, and errors by pointers with a mark in the lowest bit.  One generator has taken
 * more numbers than there are, and one error has no owner.  Then the program asks for a dump. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

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

static const uint64_t keys[4] = {1};

static struct generator *volatile generators[GENERATORS];
static volatile uintptr_t errors[ERRORS];

static struct generator *make_generator(size_t taken)
{
	char *block = malloc(sizeof(struct generator) + ALIGNMENT);
	struct generator *made;

	/* Only a generator that does not begin with its block tells the rule from none. */
	while ((uintptr_t)block % ALIGNMENT == 0)
		block = malloc(sizeof(struct generator) + ALIGNMENT);
	made = (void *)(block + ALIGNMENT - (uintptr_t)block % ALIGNMENT);
	*made = (struct generator){.state = {1, 2, 3}, .keys = keys, .next = taken};
	return made;
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
	return raise(SIGUSR1);
}
