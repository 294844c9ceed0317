/* declared_roots.h - ranges of memory that the program has declared roots, by leakwrap_root(). */
#ifndef LEAKWRAP_DECLARED_ROOTS_H
#define LEAKWRAP_DECLARED_ROOTS_H

#include <stdint.h>

/* Adds and removes a range.  See leakwrap_root and leakwrap_unroot in leakwrap.h. */
int leakwrap_declared_roots_add(uintptr_t start, uintptr_t size);
int leakwrap_declared_roots_remove(uintptr_t start);

/* Calls VISIT with CONTEXT for each range.  Signal-safe, takes no lock. */
void leakwrap_declared_roots_each(void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                  void *context);

#endif
