/* declared_roots.c - see declared_roots.h. */
#include "wrap/reach/declared_roots.h"

#include "wrap/base/arena.h"
#include "wrap/base/locked_uthash.h"

#include <stdatomic.h>

struct declared {
	_Atomic uintptr_t start; /* 0: unused */
	_Atomic uintptr_t size;
	struct declared *next;
};

static struct declared *_Atomic declared;

/* Returns the range that begins at START, or NULL.  START may be 0: an unused one. */
static struct declared *find(uintptr_t start)
{
	struct declared *root = atomic_load(&declared);

	while (root && atomic_load(&root->start) != start)
		root = root->next;
	return root;
}

/* Adds an unused range to the list.  Returns NULL if there is no memory. */
static struct declared *add_unused(void)
{
	struct declared *const root = leakwrap_arena_take(sizeof(*root));

	if (root) {
		root->next = atomic_load(&declared);
		atomic_store(&declared, root);
	}
	return root;
}

int leakwrap_declared_roots_add(uintptr_t start, uintptr_t size)
{
	struct declared *root;

	if (start == 0 || size == 0 || start + size < start)
		return -1;
	leakwrap_lock(&leakwrap_tables_lock);
	root = find(start);
	if (!root)
		root = find(0);
	if (!root)
		root = add_unused();
	if (root) {
		atomic_store(&root->size, size);
		atomic_store(&root->start, start);
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	return root ? 0 : -1;
}

int leakwrap_declared_roots_remove(uintptr_t start)
{
	struct declared *root;

	if (start == 0)
		return -1;
	leakwrap_lock(&leakwrap_tables_lock);
	root = find(start);
	if (root)
		atomic_store(&root->start, 0);
	leakwrap_unlock(&leakwrap_tables_lock);
	return root ? 0 : -1;
}

void leakwrap_declared_roots_each(void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                  void *context)
{
	for (const struct declared *root = atomic_load(&declared); root; root = root->next) {
		const uintptr_t start = atomic_load(&root->start);

		if (start != 0)
			visit(context, start, start + atomic_load(&root->size));
	}
}
