/* shared_object.h - whether the runtime is part of a shared object, which may be unloaded. */
#ifndef LEAKWRAP_SHARED_OBJECT_H
#define LEAKWRAP_SHARED_OBJECT_H

#include <stdbool.h>

/* Returns whether the runtime is part of a shared object.  Signal-safe, takes no lock. */
bool leakwrap_is_in_shared_object(void);

#endif
