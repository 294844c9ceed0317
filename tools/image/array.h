/* array.h - arrays by new[] without elements, which a program holds by their end
 * (wrap/rules/array_rules.h). */
#ifndef TOOLS_IMAGE_ARRAY_H
#define TOOLS_IMAGE_ARRAY_H

#include "tools/image/image.h"
#include "tools/log/parsed_dump.h"

/* Returns the size of what is in front of the elements of an array, unless they have an alignment
 * of their own. */
uint64_t array_cookie(const struct image *image);

/* Returns true if BLOCK may be an array without elements. */
bool is_empty_array(const struct image *image, const struct listed_block *block);

#endif
