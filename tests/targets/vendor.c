/* vendor.c - the archive that stands for a vendor's. It is compiled without frame pointers, with
 * and without unwind tables. Its functions have frames of different shapes: saved registers,
 * arrays, more than a page, a size that is known only at run time, and floating-point registers.
 *
 * A comment with an at sign and a name marks a call that a backtrace may show. The list of expected
 * call sites uses this name. */
#include "vendor.h"

#include <stdlib.h>
#include <string.h>

#define FRAME __attribute__((noinline))

/* Stored to after each call, so that no call is the last act of a function and its locals are
 * needed later. */
static volatile int sink;
static volatile double scale = 1;

static FRAME void *pool_take(size_t size)
{
	void *block = malloc(size); /* @take */

	sink++;
	return block;
}

static FRAME void *token_read(size_t size)
{
	char text[48];
	void *block;

	memset(text, sink, sizeof(text));
	block = pool_take(size); /* @token */
	sink += text[size % sizeof(text)];
	return block;
}

static FRAME void *line_read(size_t size)
{
	size_t length = size % 32 + (size_t)sink % 2;
	char line[length + 1]; /* NOLINT: a frame whose size the compiler does not know */
	void *block;

	memset(line, sink, length + 1);
	block = token_read(size); /* @line */
	sink += line[length];
	return block;
}

static FRAME void *page_read(size_t size)
{
	char page[5000];
	void *block;

	memset(page, sink, sizeof(page));
	block = line_read(size); /* @page */
	sink += page[size];
	return block;
}

static FRAME double measure(double a, double b, void **block, size_t size)
{
	double c = a * scale, d = b * scale;

	*block = page_read(size); /* @measure */
	return a * b + c * d;
}

FRAME void *vendor_open(size_t size)
{
	void *block;

	sink += (int)measure(scale, scale + 1, &block, size); /* @open */
	return block;
}

static FRAME char *name_copy(const char *text)
{
	char *copy = strdup(text); /* @copy */

	sink++;
	return copy;
}

FRAME char *vendor_name(const char *text)
{
	char *copy = name_copy(text); /* @name */

	sink += copy[0];
	return copy;
}

FRAME void *vendor_table(size_t rows, size_t row)
{
	int before = sink;
	void *table = calloc(rows, row); /* @table */

	sink += before;
	return table;
}

FRAME void *vendor_grow(void *block, size_t size)
{
	void *larger = realloc(block, size); /* @grow */

	sink++;
	return larger;
}

FRAME void vendor_each(int count, void (*call)(void *context), void *context)
{
	int before = sink;

	if (count > 1)
		vendor_each(count - 1, call, context); /* @again */
	call(context);                                 /* @each */
	sink += before + count;
}

static FRAME void store_one(int *address)
{
	*address = sink; /* @store */
	sink++;
}

FRAME void vendor_store(int *address)
{
	store_one(address); /* @store-one */
	sink++;
}
