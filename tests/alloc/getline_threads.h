/* getline_threads.h - how the test takes part in getline_threads_malloc.c. */
#ifndef GETLINE_THREADS_H
#define GETLINE_THREADS_H

/* Called by realloc when others can have the old block and realloc has not returned. */
void old_block_is_free(void);

#endif
