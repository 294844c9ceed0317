/* array.h - how new[] keeps the number of an array's elements (wrap/reach/interior.h). */
#ifndef TOOLS_IMAGE_ARRAY_H
#define TOOLS_IMAGE_ARRAY_H

#include "tools/image/image.h"
#include "tools/log/parsed_dump.h"

/* The bytes before the elements that have no alignment of their own. */
uint64_t array_cookie(const struct image *image);

/* Returns true if BLOCK may be an array without elements. */
bool is_empty_array(const struct image *image, const struct listed_block *block);

/* Returns true if POINTER may lead to the first element of an array in BLOCK. */
bool is_array(const struct image *image, const struct listed_block *block, uint64_t pointer);

#endif
