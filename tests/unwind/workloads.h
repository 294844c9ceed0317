/* workloads.h - allocates through prebuilt archives: Lua, SQLite, libxml2, GLib, libcrypto,
 * libc. */
#ifndef TESTS_UNWIND_WORKLOADS_H
#define TESTS_UNWIND_WORKLOADS_H

#include <stdbool.h>

/* Uses the library NAME: lua, sqlite, xml, glib, crypto, libc, or all of them. If KEEP, most of its
 * blocks stay allocated. Returns false if there is no such library. */
bool use_library(const char *name, bool keep);

#endif
