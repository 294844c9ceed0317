/* php_tables.c - holds the elements of tables as PHP does, by a pointer behind the hashes, and what
 * functions of extensions take, by a pointer behind what they return.  Similar pointers lead to
 * blocks that are none: beside them stand other numbers, or no address of code. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { TABLES = 30, FUNCTIONS = 40, VALUE = 16, ABSTRACT = 0x40 };

/* Like struct _zend_array of PHP 8.2 (Zend/zend_types.h). */
struct table {
	uint32_t owners, type, flags, hashes;
	char *elements;
	uint32_t used, count, room, position;
};

/* Like struct _zend_internal_arg_info (Zend/zend_compile.h). */
struct argument {
	const char *name;
	void *type;
	uintptr_t mask;
	const char *value;
};

/* Like struct _zend_internal_function. */
struct function {
	uint8_t type, flags_of_arguments[3];
	uint32_t flags;
	const void *name, *class, *prototype;
	uint32_t takes, needs;
	struct argument *arguments;
	void *attributes;
	uint32_t temporaries;
	void (*handler)(void);
};

static struct table tables[TABLES], other_tables[3];
static struct function functions[FUNCTIONS], abstract, other_functions[5];
static const char name[32] = "a name";

static void handle(void)
{
}

/* Makes the elements of TABLE: a list's, or with keys. */
static NOINLINE void make_table(struct table *table, uint32_t room, int is_list)
{
	const uint32_t hashes = is_list ? 2 : 2 * room;
	const size_t size = is_list ? VALUE : VALUE + 2 * sizeof(void *);
	char *const block = calloc(1, hashes * sizeof(hashes) + room * size);

	table->hashes = -hashes;
	table->used = table->room = room;
	table->count = room - 1;
	table->elements = block + hashes * sizeof(hashes);
	/* cppcheck-suppress memleak ; the table holds the block */
}

static NOINLINE void make_function(struct function *function, uint32_t takes, uint32_t more)
{
	struct argument *const result = calloc(1 + takes + more, sizeof(*result));

	function->type = 1;
	function->name = function->class = name;
	function->takes = function->needs = takes;
	function->arguments = result + 1;
	function->handler = handle;
	/* cppcheck-suppress memleak ; the function holds the block */
}

/* Of one table the number of hashes is another, of one that of elements, and one has room for
 * fewer. */
static NOINLINE void make_other_tables(void)
{
	for (int i = 0; i < 3; i++)
		make_table(&other_tables[i], 8, 0);
	other_tables[0].hashes--;
	other_tables[1].count = other_tables[1].used + 1;
	other_tables[2].room = other_tables[2].used = 7;
}

/* One function has no code, one takes another number.  Three take nothing: one of them has no code,
 * one another type, one no name. */
static NOINLINE void make_other_functions(void)
{
	for (unsigned i = 0; i < 5; i++)
		make_function(&other_functions[i], i < 2 ? 4 : 0, 0);
	other_functions[0].handler = NULL;
	other_functions[1].takes = 6;
	other_functions[2].handler = NULL;
	other_functions[3].type = 2;
	other_functions[4].name = NULL;
}

int main(void)
{
	for (unsigned i = 0; i < TABLES; i++)
		make_table(&tables[i], 8U << i % 5, i % 2);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		make_function(&functions[i], i % 5, i % 2);
	make_function(&abstract, 0, 0);
	abstract.handler = NULL;
	abstract.flags = ABSTRACT;
	make_other_tables();
	make_other_functions();
	clear_stack();
	return raise(SIGUSR1);
}
