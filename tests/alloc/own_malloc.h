/* own_malloc.h - how a test takes part in own_malloc.c. */
#ifndef OWN_MALLOC_H
#define OWN_MALLOC_H

/* Where the calls of malloc, and of what is built on it, are counted; a test may move it. */
extern unsigned long *own_malloc_calls;

/* Defined by a test that wants it: called with the allocator's lock held, and by free when
 * others can have the block and free has not returned. */
__attribute__((weak)) void own_malloc_locked(void);
__attribute__((weak)) void own_malloc_freed(void);

#endif
