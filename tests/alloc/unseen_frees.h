/* unseen_frees.h - the library of unseen_frees.c. */
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

#include <stddef.h>

void *library_makes(size_t size);
void library_frees(void *block);

#endif
