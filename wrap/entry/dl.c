/* dl.c - the functions that load and unload shared libraries: they refresh the module list.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>. */
#include <dlfcn.h>

#include "wrap/entry/define.h"
#include "wrap/module/loaded.h"
#include "wrap/module/registry.h"
#include "wrap/module/unlisted.h"

#ifndef RTLD_DEEPBIND /* musl does not have it */
#define RTLD_DEEPBIND 0
#endif

#ifdef LEAKWRAP_ENTRY_dlopen
ENTRY_DECLARE(void *, dlopen, (const char *file, int mode));

void *__wrap_dlopen(const char *file, int mode)
{
	void *handle;

	leakwrap_modules_begin_load((mode & RTLD_DEEPBIND) != 0);
	handle = __real_dlopen(file, mode);
	leakwrap_modules_end_load();
	return handle;
}
#endif

/* Only glibc has dlmopen; its Lmid_t is long, and 0 is the program's namespace. */
#ifdef LEAKWRAP_ENTRY_dlmopen
ENTRY_DECLARE(void *, dlmopen, (long name_space, const char *file, int mode));

void *__wrap_dlmopen(long name_space, const char *file, int mode)
{
	void *handle = __real_dlmopen(name_space, file, mode);

	if (handle && name_space != 0)
		leakwrap_modules_note_namespace();
	leakwrap_modules_refresh();
	return handle;
}
#endif

#ifdef LEAKWRAP_ENTRY_dlclose
ENTRY_DECLARE(int, dlclose, (void *handle));

int __wrap_dlclose(void *handle)
{
	int result = __real_dlclose(handle);

	leakwrap_modules_refresh();
	return result;
}
#endif
