/* library_objects.c - keeps objects of a shared library by pointers to their second parts, as C++
 * does with multiple inheritance.  The library is this file, too. */
#include "tests/noinline.h"

#include <stdlib.h>

/* Each part begins with the address of a table of functions. */
struct part {
	void (*const *functions)(void);
	long number;
};

struct object {
	struct part first, second;
};

struct part *make_object(void);

#ifdef LIBRARY

static NOINLINE void do_nothing(void)
{
}

static void (*const table[])(void) = {do_nothing, do_nothing};

struct part *make_object(void)
{
	struct object *const object = calloc(1, sizeof(*object));

	object->first.functions = object->second.functions = table;
	return &object->second;
}

#else

#include <signal.h>

enum { KEPT = 50 };

static struct part *volatile kept[KEPT];

int main(void)
{
	for (int i = 0; i < KEPT; i++)
		kept[i] = make_object();
	return raise(SIGUSR1);
}

#endif
