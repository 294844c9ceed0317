/* tables.c - the lock of the uthash tables.  See tables.h. */
#include "wrap/base/locked_uthash.h"

struct leakwrap_lock leakwrap_tables_lock;
bool leakwrap_tables_failed;
