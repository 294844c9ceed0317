/* is_readable.h - the question whether memory can be read, for what looks at blocks. */
#ifndef LEAKWRAP_IS_READABLE_H
#define LEAKWRAP_IS_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether SIZE bytes at ADDRESS can be read. */
typedef bool leakwrap_is_readable(uintptr_t address, size_t size);

#endif
