/* locked_uthash.c - the lock of the uthash tables.  See locked_uthash.h. */
#include "wrap/base/locked_uthash.h"

struct leakwrap_lock leakwrap_tables_lock;
bool leakwrap_tables_failed;
