/* vendor.h - the interface of the archive that stands for a vendor's. */
#ifndef VENDOR_H
#define VENDOR_H

#include <stddef.h>

/* Each returns a block that the caller frees. The block is allocated through several functions of
 * the vendor. */
void *vendor_open(size_t size);
char *vendor_name(const char *text);
void *vendor_table(size_t rows, size_t row);
void *vendor_grow(void *block, size_t size);

/* Calls CALL with CONTEXT, COUNT times, from a function that calls itself. */
void vendor_each(int count, void (*call)(void *context), void *context);

/* Stores to ADDRESS. */
void vendor_store(int *address);

#endif
