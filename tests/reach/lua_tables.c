/* lua_tables.c - tables, a main state and a coroutine with the layout of Lua 5.5.  The program
 * holds the main state.  With LOSE it loses the tables of a second one. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"

enum { THREAD = 8, TABLE = 5 };

/* In a union of a number and a pointer. */
typedef union {
	double number;
	void *pointer;
} value;

typedef struct {
	value value;
	unsigned char type, key_type;
	int next;
	value key;
} node;

typedef union {
	node *last_free;
	char padding[offsetof(
	        struct {
		        node *dummy;
		        node next;
	        },
	        next)];
} limbox;

typedef struct object {
	struct object *next;
	unsigned char type, marked, flags, nodes_log;
	unsigned count;
	value *elements;
	node *nodes;
	void *more[2];
} table;

typedef struct state {
	struct object *next;
	unsigned char type, marked, allows_hook, status;
	void *top;
	struct global *global;
	void *more[20];
} state;

struct global {
	void *first[6];
	table *registry;
	void *more[180];
	struct object *all;
	void *extra; /* in front of the state */
	state main;
};

static state *volatile held;

static void *allocate(size_t size)
{
	void *const block = calloc(1, size);

	if (!block)
		exit(2);
	return block;
}

static NOINLINE table *make_table(struct global *global, unsigned count, unsigned nodes_log)
{
	table *const made = allocate(sizeof(*made));
	const size_t nodes = (size_t)1 << nodes_log;

	made->type = TABLE;
	made->nodes_log = (unsigned char)nodes_log;
	made->count = count;
	made->elements = (value *)allocate(count * (sizeof(value) + 1) + 4) + count;
	made->nodes =
	        (node *)((char *)allocate(sizeof(limbox) + nodes * sizeof(node)) + sizeof(limbox));
	((limbox *)made->nodes - 1)->last_free = made->nodes + nodes / 2;
	made->next = global->all;
	global->all = made;
	return made;
}

static NOINLINE state *make_state(void)
{
	struct global *const global = allocate(sizeof(*global));
	char *const coroutine = allocate(sizeof(void *) + sizeof(state));
	state *const second = (state *)(void *)(coroutine + sizeof(void *));

	global->main.type = second->type = THREAD;
	global->main.global = second->global = global;
	global->registry = make_table(global, 3, 4);
	global->registry->elements[-1].pointer = second;
	global->registry->elements[-2].pointer = make_table(global, 1000, 3);
	global->registry->nodes[1].value.pointer = make_table(global, 17, 10);
	return &global->main;
}

static NOINLINE void make_states(void)
{
#ifdef LOSE
	make_state();
#endif
	held = make_state();
}

int main(void)
{
	make_states();
	clear_stack();
	/* A core file is made at the exit. */
	exit(raise(SIGUSR1));
}
