/* glibc_heap.h - which memory belongs to glibc's malloc itself (glibc_rules.h).  With another C
 * library, nothing is found. */
#ifndef LEAKWRAP_GLIBC_HEAP_H
#define LEAKWRAP_GLIBC_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the allocator's next memory from START on, in the readable memory of brk(2), which ends at
 * END.  With glibc that is a row of chunks that follow each other; a program that calls sbrk(2)
 * itself has its memory between two rows.  With another C library it is all memory up to END.
 * Returns false if there is no more. */
bool leakwrap_break_after(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind);

/* Returns the first address from START on, in readable memory that ends at END, at which an arena
 * of threads begins that has a live block.  Returns END if there is none.  PAGEMAP: from
 * leakwrap_pagemap_open; pages that were never written to are not read. */
uintptr_t leakwrap_glibc_arena_after(int pagemap, uintptr_t start, uintptr_t end);

/* Returns the end of the arena that begins at ARENA, in readable memory that ends at END. */
uintptr_t leakwrap_glibc_arena_end(uintptr_t arena, uintptr_t end);

/* Finds the state of the first arena (main_arena) in the readable memory from START to END.
 * Returns false if it is not there. */
bool leakwrap_glibc_find_state(uintptr_t start, uintptr_t end, uintptr_t *first, uintptr_t *behind);

#endif
