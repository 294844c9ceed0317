/* handed_on_malloc.h - the places inside realloc of handed_on_malloc.c where the test acts. */
#ifndef HANDED_ON_MALLOC_H
#define HANDED_ON_MALLOC_H

enum place { BEFORE_COPY, OLD_BLOCK_FREE };

/* Defined by the test, called by realloc. */
void inside_realloc(enum place place);

#endif
