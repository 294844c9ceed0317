/* cxx.c - the C++ runtime's functions that allocate and free: operators new and delete in all forms
 * of C++98 to C++20, and the demangler.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>.
 *
 * The functions are written in C under the mangled names (Itanium C++ ABI, 5.1.3 and 5.1.5), so
 * that a C program needs no C++ runtime.  A reference is a pointer; std::align_val_t is size_t.  In
 * the names size_t is "m" where it is unsigned long, and "j" where it is unsigned int.
 *
 * An exception from operator new passes through: the verb before the call leaves nothing to undo.
 */
#include <stdint.h>

#include "wrap/entry/define.h"
#include "wrap/entry/new_handler.h"

#ifndef LEAKWRAP_BARE

/* Makes the operator NAME that returns NULL fail.  Leaves the function unless it tries again. */
#define FAIL_NOTHROW(name, arguments)                                   \
	void (*const handler)(void) = leakwrap_begin_nothrow_failure(); \
	const size_t asked = size;                                      \
	size = LEAKWRAP_TOO_LARGE;                                      \
	ENTRY_CALL_ORIGINAL(name, arguments);                           \
	size = asked;                                                   \
	if (!leakwrap_end_nothrow_failure(handler))                     \
	return NULL

#endif

/* Defines leakwrap_operator_NAME, by which misuse.c finds the original of NAME. */
#ifndef LEAKWRAP_BARE
#define OPERATOR(name)                                       \
	extern void (*const leakwrap_operator_##name)(void); \
	void (*const leakwrap_operator_##name)(void) = (void (*)(void))__real_##name;
#else
#define OPERATOR(name)
#endif

/* Each operator new has a parameter SIZE. */
#define OPERATOR_NEW(verb, name, parameters, arguments, failure)                              \
	ENTRY_ALLOCATE_AS(verb, LEAKWRAP_SKIP_NOT, true, void *, name, parameters, arguments, \
	                  size, failure)                                                      \
	OPERATOR(name)
#define NEW(name, parameters, arguments)                               \
	OPERATOR_NEW(leakwrap_record_new, name, parameters, arguments, \
	             size = leakwrap_fail_new(size))
#define NEW_ARRAY(name, parameters, arguments)                           \
	OPERATOR_NEW(leakwrap_record_array, name, parameters, arguments, \
	             size = leakwrap_fail_new(size))

/* The operators that return NULL. */
#define NEW_NOTHROW(name, parameters, arguments)                       \
	OPERATOR_NEW(leakwrap_record_new, name, parameters, arguments, \
	             FAIL_NOTHROW(name, arguments))
#define NEW_ARRAY_NOTHROW(name, parameters, arguments)                   \
	OPERATOR_NEW(leakwrap_record_array, name, parameters, arguments, \
	             FAIL_NOTHROW(name, arguments))
#define DELETE(name, parameters, arguments) \
	ENTRY_RELEASE(leakwrap_begin_release_new, name, parameters, arguments) OPERATOR(name)
#define DELETE_ARRAY(name, parameters, arguments) \
	ENTRY_RELEASE(leakwrap_begin_release_array, name, parameters, arguments) OPERATOR(name)

#ifdef LEAKWRAP_ENTRY__Znwm
NEW(_Znwm, (size_t size), (size))
#endif

#ifdef LEAKWRAP_ENTRY__ZnwmRKSt9nothrow_t
NEW_NOTHROW(_ZnwmRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZnwmSt11align_val_t
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZnwmSt11align_val_tRKSt9nothrow_t
NEW_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t,
            (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__Znam
NEW_ARRAY(_Znam, (size_t size), (size))
#endif

#ifdef LEAKWRAP_ENTRY__ZnamRKSt9nothrow_t
NEW_ARRAY_NOTHROW(_ZnamRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZnamSt11align_val_t
NEW_ARRAY(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZnamSt11align_val_tRKSt9nothrow_t
NEW_ARRAY_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t,
                  (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__Znwj
NEW(_Znwj, (size_t size), (size))
#endif

#ifdef LEAKWRAP_ENTRY__ZnwjRKSt9nothrow_t
NEW_NOTHROW(_ZnwjRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZnwjSt11align_val_t
NEW(_ZnwjSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZnwjSt11align_val_tRKSt9nothrow_t
NEW_NOTHROW(_ZnwjSt11align_val_tRKSt9nothrow_t,
            (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__Znaj
NEW_ARRAY(_Znaj, (size_t size), (size))
#endif

#ifdef LEAKWRAP_ENTRY__ZnajRKSt9nothrow_t
NEW_ARRAY_NOTHROW(_ZnajRKSt9nothrow_t, (size_t size, const void *nothrow), (size, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZnajSt11align_val_t
NEW_ARRAY(_ZnajSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZnajSt11align_val_tRKSt9nothrow_t
NEW_ARRAY_NOTHROW(_ZnajSt11align_val_tRKSt9nothrow_t,
                  (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZdlPv
DELETE(_ZdlPv, (void *block), (block))
#endif

#ifdef LEAKWRAP_ENTRY__ZdlPvRKSt9nothrow_t
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZdlPvSt11align_val_t
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZdlPvSt11align_val_tRKSt9nothrow_t
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow),
       (block, alignment, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZdlPvm
DELETE(_ZdlPvm, (void *block, size_t size), (block, size))
#endif

#ifdef LEAKWRAP_ENTRY__ZdlPvmSt11align_val_t
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
       (block, size, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZdlPvj
DELETE(_ZdlPvj, (void *block, size_t size), (block, size))
#endif

#ifdef LEAKWRAP_ENTRY__ZdlPvjSt11align_val_t
DELETE(_ZdlPvjSt11align_val_t, (void *block, size_t size, size_t alignment),
       (block, size, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZdaPv
DELETE_ARRAY(_ZdaPv, (void *block), (block))
#endif

#ifdef LEAKWRAP_ENTRY__ZdaPvRKSt9nothrow_t
DELETE_ARRAY(_ZdaPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZdaPvSt11align_val_t
DELETE_ARRAY(_ZdaPvSt11align_val_t, (void *block, size_t alignment), (block, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZdaPvSt11align_val_tRKSt9nothrow_t
DELETE_ARRAY(_ZdaPvSt11align_val_tRKSt9nothrow_t,
             (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow))
#endif

#ifdef LEAKWRAP_ENTRY__ZdaPvm
DELETE_ARRAY(_ZdaPvm, (void *block, size_t size), (block, size))
#endif

#ifdef LEAKWRAP_ENTRY__ZdaPvmSt11align_val_t
DELETE_ARRAY(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t alignment),
             (block, size, alignment))
#endif

#ifdef LEAKWRAP_ENTRY__ZdaPvj
DELETE_ARRAY(_ZdaPvj, (void *block, size_t size), (block, size))
#endif

#ifdef LEAKWRAP_ENTRY__ZdaPvjSt11align_val_t
DELETE_ARRAY(_ZdaPvjSt11align_val_t, (void *block, size_t size, size_t alignment),
             (block, size, alignment))
#endif

#ifdef LEAKWRAP_ENTRY___cxa_demangle
ENTRY_DECLARE(char *, __cxa_demangle,
              (const char *mangled, char *buffer, size_t *length, int *status));

/* Returns the name in BUFFER, or in a new block that replaces BUFFER (Itanium C++ ABI, 3.4).  The
 * original reads *LENGTH only if the name is valid.  So the old capacity stays unknown. */
char *__wrap___cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status)
{
	ENTRY_PASS_ON_FIRST(__real___cxa_demangle(mangled, buffer, length, status))
	struct leakwrap_attempt attempt = {.guard = 0};
	if (entry_may_fail() && leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER)) {
		if (status)
			*status = -1;
		return NULL;
	}
	struct leakwrap_replacement old = leakwrap_begin_replacement(buffer, 0, LEAKWRAP_CALLER.sp);
	char *name = __real___cxa_demangle(mangled, buffer, length, status);
	leakwrap_end_attempt(&attempt);

	if (!name || name == buffer)
		leakwrap_end_replacement(old, buffer, old.capacity, LEAKWRAP_CALLER);
	else
		leakwrap_end_replacement(old, name, length ? *length : strlen(name) + 1,
		                         LEAKWRAP_CALLER);
	return name;
}
#endif
