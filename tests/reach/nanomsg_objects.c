/* nanomsg_objects.c - holds messages and objects as nanomsg does: a message by its bytes, behind a
 * mark, and an object that begins with a state machine as the only one of a list.  Similar blocks
 * are none of these. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { KEPT = 20, BYTES = 100, MESSAGES = KEPT + 3, OBJECTS = KEPT + 3 };

/* As struct nn_chunk, with what follows it (src/utils/chunk.c). */
struct message {
	uint32_t owners;
	size_t size;
	void (*free)(void *block);
	uint32_t taken, mark; /* highest byte first */
	uint32_t bytes[BYTES];
};

/* As struct nn_fsm, and an object that begins with it. */
struct machine {
	void (*run)(void), (*end)(void);
	int state, source;
	void *maker, *owner, *lock;
};

struct node {
	struct node *next, *last;
};

struct object {
	struct machine machine;
	uintptr_t name[5];
	struct node node;
};

static void *volatile messages[MESSAGES];
static struct { /* lists, between other words */
	uintptr_t before;
	struct node *volatile first, *volatile last;
	uintptr_t behind;
} lists[OBJECTS];
static uintptr_t owner;

static void run(void)
{
}

/* Makes a message of which TAKEN words were taken away. */
static struct message *make_message(unsigned taken)
{
	struct message *const message = calloc(1, sizeof(*message));

	memset(message->bytes, 'x', sizeof(message->bytes));
	message->owners = 2 * BYTES * 4; /* fewer would be the length of an array of stb_ds.h */
	message->size = sizeof(message->bytes);
	message->free = free;
	(&message->taken)[taken] = htonl(taken * 4);
	(&message->mark)[taken] = htonl(0xdeadcafe);
	return message;
}

static struct object *make_object(unsigned list)
{
	struct object *const object = calloc(1, sizeof(*object) + list * sizeof(void *));

	object->machine = (struct machine){run, run, 1, 2, NULL, &owner, &owner};
	lists[list].first = lists[list].last = &object->node;
	return object;
}

/* The mark, the number of bytes taken away or the function is another. */
static NOINLINE void make_other_messages(void)
{
	struct message *message = make_message(0);

	message->mark++;
	messages[KEPT] = message->bytes;
	message = make_message(0);
	message->taken = htonl(4);
	messages[KEPT + 1] = message->bytes;
	message = make_message(0);
	message->free = (void (*)(void *))(uintptr_t)8;
	messages[KEPT + 2] = message->bytes;
}

/* The object begins with one function, the node leads elsewhere, or its address stands there once.
 */
static NOINLINE void make_other_objects(void)
{
	make_object(KEPT)->machine.end = NULL;
	make_object(KEPT + 1)->node.next = (struct node *)&owner;
	make_object(KEPT + 2);
	lists[KEPT + 2].last = NULL;
}

int main(void)
{
	for (unsigned i = 0; i < KEPT; i++) {
		messages[i] = make_message(i)->bytes + i;
		make_object(i);
	}
	make_other_messages();
	make_other_objects();
	clear_stack();
	return raise(SIGUSR1);
}
