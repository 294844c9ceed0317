/* own_malloc.h - how a test takes part in own_malloc.c. */
#ifndef OWN_MALLOC_H
#define OWN_MALLOC_H

/* Where own_malloc.c counts its calls. A test may let it point elsewhere. */
extern unsigned long *own_malloc_calls;

/* A test may define these. The allocator calls the first with its lock held. free calls the second
 * when others can have the block and free has not returned. */
__attribute__((weak)) void own_malloc_locked(void);
__attribute__((weak)) void own_malloc_freed(void);

#endif
