/* inside_realloc.h - the places inside realloc where the test acts. */
#ifndef INSIDE_REALLOC_H
#define INSIDE_REALLOC_H

enum place { BEFORE_COPY, OLD_BLOCK_FREE };

/* Defined by the test, called by realloc. */
void inside_realloc(enum place place);

#endif
