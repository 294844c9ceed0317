/* array.h - arrays by new[] without elements (wrap/reach/array_rules.h). */
#ifndef TOOLS_IMAGE_ARRAY_H
#define TOOLS_IMAGE_ARRAY_H

#include "tools/image/image.h"
#include "tools/log/parsed_dump.h"

/* Returns the size of what is in front of the elements of an array, unless they have an alignment
 * of their own. */
uint64_t array_cookie(const struct image *image);

/* Returns true if BLOCK may be an array without elements. */
bool is_empty_array(const struct image *image, const struct listed_block *block);

/* Returns the size of a chunk of libtalloc that has a header alone (wrap/reach/talloc_rules.h). */
uint64_t empty_chunk_size(const struct image *image);

/* Returns that of a block of Mesa's ralloc that has a header alone (wrap/reach/ralloc_rules.h). */
uint64_t empty_ralloc_size(const struct image *image);

/* Returns that of a block of mpv that has a header alone (wrap/reach/ta_rules.h). */
uint64_t empty_ta_size(const struct image *image);

/* Returns whether BLOCK is such a chunk or block. */
bool is_empty_chunk(const struct image *image, const struct listed_block *block);

/* Returns the size of what PHP keeps of a function without arguments (wrap/reach/php_rules.h). */
uint64_t php_result_size(const struct image *image);

/* Returns whether such a function has the address of its arguments at AT. */
bool is_function_of_none(const struct image *image, uint64_t at);

#endif
