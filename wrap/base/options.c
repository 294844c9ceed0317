/* options.c - see options.h. */
#include "wrap/base/options.h"

struct leakwrap_options leakwrap_options;
