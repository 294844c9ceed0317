/* json_stack.h - stacks as JSON, for the documents of several commands. */
#ifndef TOOLS_RENDER_JSON_STACK_H
#define TOOLS_RENDER_JSON_STACK_H

#include <jansson.h>

#include "tools/model/model.h"

/* Returns the frames of STACK, with the raw addresses that they have in DUMP, as an array of
 * objects.  Returns null if STACK is NULL. */
json_t *stack_json(const struct dump *dump, const struct stack *stack);

#endif
