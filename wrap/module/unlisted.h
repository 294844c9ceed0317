/* unlisted.h - lists modules that shared libraries have loaded, whose calls of dlopen(3) are not
 * wrapped. */
#ifndef LEAKWRAP_UNLISTED_H
#define LEAKWRAP_UNLISTED_H

#include <stdbool.h>
#include <stdint.h>

/* To be called before and after the calling thread loads modules by dlopen(3), whose constructors
 * may allocate.  BINDS_DEEP: with RTLD_DEEPBIND.  leakwrap_modules_end_load refreshes the list.
 * Calls may be nested.  Neither is for signal handlers. */
void leakwrap_modules_begin_load(bool binds_deep);
void leakwrap_modules_end_load(void);

/* Lists the module that holds ADDRESS if it is not listed, or if another module is listed in its
 * place.  The code at ADDRESS has called the calling thread's function, so it stays loaded.
 * Returns true if a module was listed.  Takes the tables' lock; with musl and with an old glibc the
 * loader's, too, which is safe there (unlisted.c).  Preserves errno. */
bool leakwrap_modules_list_unseen(uintptr_t address);

/* Does what leakwrap_modules_list_unseen does, for the modules of the code in front of the COUNT
 * return addresses at PCS. */
bool leakwrap_modules_list_callers(const uintptr_t *pcs, unsigned count);

#endif
