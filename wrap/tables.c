/* tables.c - the lock of the uthash tables.  See tables.h. */
#include "tables.h"

struct leakwrap_lock leakwrap_tables_lock;
bool leakwrap_tables_failed;
