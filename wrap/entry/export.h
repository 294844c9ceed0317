/* export.h - what a dynamic program exports as malloc, free and so on, and what its shared
 * libraries call.  Included by define.h alone, with LEAKWRAP_EXPORT.
 *
 * An exported function does what the wrapper of the program's own calls does, unless the libraries'
 * calls are not recorded (leakwrap_libraries_are_recorded).  Then new blocks pass unrecorded, and
 * blocks with a record are released and resized as usual. */
#ifndef LEAKWRAP_EXPORT_H
#define LEAKWRAP_EXPORT_H

#include "wrap/module/originals.h"
#include "wrap/record/library_calls.h"

/* In leakwrap_NAME_not_fast: allocates without looking for the call site, if this is the call that
 * operator new expects. */
#define ENTRY_MEET_EXPECTATION(verb, name, arguments, size)              \
	if (leakwrap_meet_expectation(caller.pc, caller.sp)) {           \
		void *expected = ENTRY_CALL_ORIGINAL(name, arguments);   \
		if (leakwrap_record_expected(expected, size))            \
			return expected;                                 \
		return verb(LEAKWRAP_SITE_NONE, expected, size, caller); \
	}

/* The wrapper of the program's own calls has a member of its own. */
#define ENTRY_WRAPPER_LINKAGE           static __attribute__((unused))
#define ENTRY_WRAPPER(name, parameters) leakwrap_unused_##name parameters

__attribute__((weak)) const char leakwrap_has_process_variants = 1;

/* Begins the definition of leakwrap_exported_NAME, which the program exports as NAME. */
#define ENTRY_EXPORT(type, name, parameters)                                                     \
	type leakwrap_exported_##name parameters;                                                \
	extern type leakwrap_called_##name parameters __asm__(#name)                             \
	        __attribute__((weak, alias("leakwrap_exported_" #name), visibility("default"))); \
	type leakwrap_exported_##name parameters

#define ENTRY_EXPORT_ALLOCATE(type, name, parameters, arguments)                          \
	ENTRY_SLOW_PATH type leakwrap_##name##_undecided(ENTRY_LIST parameters,           \
	                                                 LEAKWRAP_CALLER_PARAMS)          \
	{                                                                                 \
		if (leakwrap_begin_library_calls())                                       \
			return leakwrap_##name##_slow_path(ENTRY_LIST arguments,          \
			                                   LEAKWRAP_CALLER_PASSED);       \
		return ENTRY_CALL_ORIGINAL(name, arguments);                              \
	}                                                                                 \
	ENTRY_EXPORT(type, name, parameters)                                              \
	{                                                                                 \
		if (leakwrap_unlikely(!leakwrap_libraries_are_recorded)) {                \
			struct leakwrap_caller caller = LEAKWRAP_CALLER;                  \
			return leakwrap_##name##_undecided(ENTRY_LIST arguments,          \
			                                   LEAKWRAP_CALLER_ARGS(caller)); \
		}                                                                         \
		return leakwrap_##name##_allocate arguments;                              \
	}

#define ENTRY_EXPORT_RESIZE(name, parameters, arguments)                                  \
	ENTRY_SLOW_PATH void *leakwrap_##name##_undecided(ENTRY_LIST parameters,          \
	                                                  LEAKWRAP_CALLER_PARAMS)         \
	{                                                                                 \
		if (!leakwrap_begin_library_calls() && !leakwrap_is_recorded(block))      \
			return ENTRY_CALL_ORIGINAL(name, arguments);                      \
		return block ? leakwrap_##name##_slow_resize(ENTRY_LIST arguments,        \
		                                             LEAKWRAP_CALLER_PASSED)      \
		             : leakwrap_##name##_slow_path(ENTRY_LIST arguments,          \
		                                           LEAKWRAP_CALLER_PASSED);       \
	}                                                                                 \
	ENTRY_EXPORT(void *, name, parameters)                                            \
	{                                                                                 \
		if (leakwrap_unlikely(!leakwrap_libraries_are_recorded)) {                \
			struct leakwrap_caller caller = LEAKWRAP_CALLER;                  \
			return leakwrap_##name##_undecided(ENTRY_LIST arguments,          \
			                                   LEAKWRAP_CALLER_ARGS(caller)); \
		}                                                                         \
		return leakwrap_##name##_resize arguments;                                \
	}

/* Frees and returns if the libraries' calls are not recorded. */
#define ENTRY_UNLESS_RECORDED(name, arguments)                     \
	if (leakwrap_unlikely(!leakwrap_libraries_are_recorded)) { \
		leakwrap_##name##_undecided arguments;             \
		return;                                            \
	}

#define ENTRY_EXPORT_RELEASE(name, parameters, arguments)                                      \
	ENTRY_SLOW_RELEASE(leakwrap_begin_library_release, leakwrap_##name##_by_library, name, \
	                   parameters, arguments)                                              \
	ENTRY_SLOW_PATH void leakwrap_##name##_undecided parameters                            \
	{                                                                                      \
		if (leakwrap_begin_library_calls() || leakwrap_is_recorded(block))             \
			leakwrap_##name##_by_library arguments;                                \
		else                                                                           \
			ENTRY_CALL_ORIGINAL(name, arguments);                                  \
	}                                                                                      \
	ENTRY_DEFINE_FREE_PATHS(leakwrap_exported_##name, name, parameters, arguments,         \
	                        ENTRY_UNLESS_RECORDED(name, arguments),                        \
	                        leakwrap_##name##_by_library)                                  \
	ENTRY_EXPORT(void, name, parameters)                                                   \
	{                                                                                      \
		ENTRY_FREE_BY_PATH(leakwrap_exported_##name, name, arguments,                  \
		                   ENTRY_UNLESS_RECORDED(name, arguments),                     \
		                   leakwrap_##name##_by_library);                              \
	}

#endif
