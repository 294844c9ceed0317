/* python_types.h - objects of CPython, as far as the search for lost memory looks at them
 * (Include/object.h, Include/cpython/object.h). */
#ifndef PYTHON_TYPES_H
#define PYTHON_TYPES_H

#include <stdint.h>

/* The start of an object. */
struct object {
	intptr_t references;
	const struct type *type;
	intptr_t size;
};

/* The start of a type. */
struct type {
	struct object object;
	const char *name;
};

/* The type of types, which is its own type. */
static const struct type types = {{1, &types, 0}, "type"};

#endif
