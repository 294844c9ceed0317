/* parsed_dump.c - see parsed_dump.h. */
#include "tools/log/parsed_dump.h"

const char *const stack_kind_names[3] = {"complete", "truncated", "guessed"};
