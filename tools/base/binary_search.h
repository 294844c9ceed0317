/* binary_search.h - binary search in sorted arrays. */
#ifndef TOOLS_BASE_BINARY_SEARCH_H
#define TOOLS_BASE_BINARY_SEARCH_H

#include <stddef.h>

/* Sets AT, a variable of the type size_t, to the index of the first of COUNT elements for which
 * IS_BEFORE is false, or to COUNT.  IS_BEFORE is an expression over AT.  The elements for which it
 * is true come first. */
#define BINARY_SEARCH(at, count, is_before)                                                 \
	for (size_t search_low = 0, search_high = (count);                                  \
	     (at) = search_low + (search_high - search_low) / 2, search_low < search_high;) \
		if (is_before)                                                              \
			search_low = (at) + 1;                                              \
		else                                                                        \
			search_high = (at)

#endif
