/* protect.c - the functions by which a program may make its own code execute-only.  Processors with
 * memory protection keys then refuse to read it (pkeys(7)), and a walk must not.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>. */
#include <sys/mman.h>

#include "wrap/entry/define.h"
#include "wrap/module/loaded.h"

/* PROTECTION without flags: PROT_GROWSDOWN and PROT_GROWSUP lie above. */
#define ACCESS (PROT_READ | PROT_WRITE | PROT_EXEC)

#ifdef LEAKWRAP_ENTRY_mprotect
ENTRY_DECLARE(int, mprotect, (void *start, size_t size, int protection));

int __wrap_mprotect(void *start, size_t size, int protection)
{
	if ((protection & ACCESS) == PROT_EXEC)
		leakwrap_modules_note_unreadable((uintptr_t)start, size);
	return __real_mprotect(start, size, protection);
}
#endif

/* A thread may close a key to itself later. */
#ifdef LEAKWRAP_ENTRY_pkey_mprotect
ENTRY_DECLARE(int, pkey_mprotect, (void *start, size_t size, int protection, int key));

int __wrap_pkey_mprotect(void *start, size_t size, int protection, int key)
{
	if ((protection & PROT_EXEC) != 0)
		leakwrap_modules_note_unreadable((uintptr_t)start, size);
	return __real_pkey_mprotect(start, size, protection, key);
}
#endif
