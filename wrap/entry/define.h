/* define.h - macros that define wrappers, one for each common signature.  For the files of entry/.
 *
 * Each macro defines the whole wrapper __wrap_NAME of the function NAME.  PARAMETERS and ARGUMENTS
 * include their parentheses.  SIZE is an expression over the parameters.  VERB is the function of
 * record.h that tells the tracer about the block where the fast path does not apply.
 *
 * A wrapper refers to no __real_ function but its own: a second __real_ name would not link where
 * only the first function is wrapped.  Other functions of the C library are called by their plain
 * names.
 *
 * The malloc family has two more variants, the process variants, for dynamic programs:
 *
 *   LEAKWRAP_PROCESS                    defines the wrapper, but calls the original through
 *                                       leakwrap_originals: no name leads to it
 *   LEAKWRAP_PROCESS, LEAKWRAP_EXPORT   defines NAME itself, which the program exports, so that
 *                                       shared libraries call it.  The definition is weak: an
 *                                       allocator that the program brings takes its place */
#ifndef LEAKWRAP_DEFINE_H
#define LEAKWRAP_DEFINE_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "wrap/arch/arch.h"
#include "wrap/module/originals.h"
#include "wrap/record/record.h"
#include "wrap/record/expected.h"
#include "wrap/record/fast_path.h"

LEAKWRAP_REFER_TO_PUBLIC_API;

/* Declares the original and its wrapper. */
#define ENTRY_DECLARE(type, name, parameters) \
	type __real_##name parameters;        \
	ENTRY_WRAPPER_LINKAGE type ENTRY_WRAPPER(name, parameters)

/* ENTRY_WRAPPER declares the wrapper.  ENTRY_CALL_ORIGINAL calls the original of NAME.  A
 * slow path stands behind ENTRY_FIND_ORIGINAL; a thread on the fast path has been on a slow path
 * before.  ENTRY_EXPORT_... define what the program exports as NAME. */
#ifndef LEAKWRAP_EXPORT
#define ENTRY_WRAPPER_LINKAGE           LEAKWRAP_ENTRY
#define ENTRY_WRAPPER(name, parameters) __wrap_##name parameters
#define ENTRY_EXPORT_ALLOCATE(type, name, parameters, arguments)
#define ENTRY_EXPORT_RESIZE(name, parameters, arguments)
#define ENTRY_EXPORT_RELEASE(name, parameters, arguments)
#define ENTRY_MEET_EXPECTATION(verb, name, arguments, size)
#else
#include "wrap/entry/export.h"
#endif
#ifndef LEAKWRAP_PROCESS
#define ENTRY_ORIGINAL(name)  __real_##name
#define ENTRY_FIND_ORIGINAL() ((void)0)
#else
#define ENTRY_ORIGINAL(name)  leakwrap_originals.name
#define ENTRY_FIND_ORIGINAL() leakwrap_originals_need()
#endif
#define ENTRY_CALL_ORIGINAL(name, arguments) ENTRY_ORIGINAL(name) arguments

/* In a function to which a wrapper jumps: jumps on to the original by CALL, if another tracer
 * records what this one would.  Then the other tracer's backtraces have no frame of this one. */
#define ENTRY_PASS_ON(call)                           \
	if (leakwrap_unlikely(leakwrap_stands_aside)) \
		return call;

/* ENTRY_PASS_ON at the beginning of a wrapper without such a function.  gcc makes it a jump.  A
 * function with "..." cannot jump, so its wrapper is a frame. */
#ifdef LEAKWRAP_BARE
#define ENTRY_PASS_ON_FIRST(call)
#else
#define ENTRY_PASS_ON_FIRST(call)                                                  \
	if (leakwrap_unlikely(leakwrap_self.state != LEAKWRAP_THREAD_RECORDING)) { \
		ENTRY_PASS_ON(call)                                                \
	}
#endif

/* On a slow path: the function stands out of line, so that the fast path saves no registers for it.
 * Bare-metal builds have no fast path; there the slow path is inlined.  The functions' names begin
 * with leakwrap_, by which tools recognize the tracer's own functions. */
#ifdef LEAKWRAP_BARE
#define ENTRY_SLOW_PATH static inline
#else
#define ENTRY_SLOW_PATH static __attribute__((noinline))
#endif

/* A slow path that gets the wrapper's own arguments, and may jump on to the original.  So it takes
 * its arguments from where the wrapper and the original have them. */
#define ENTRY_NEXT_PATH ENTRY_SLOW_PATH LEAKWRAP_USUAL_CONVENTION

/* Removes the parentheses of a list: ENTRY_LIST (a, b) is a, b. */
#define ENTRY_LIST(...) __VA_ARGS__

/* Returns whether the thread does more than record.  Only then may an allocation have to fail, and
 * a wrapper without a fast path calls leakwrap_begin_attempt. */
LEAKWRAP_INLINE bool entry_may_fail(void)
{
#ifdef LEAKWRAP_BARE
	return false;
#else
	return leakwrap_unlikely(leakwrap_self.state != LEAKWRAP_THREAD_RECORDING);
#endif
}

/* -- the allocator ----------------------------------------------------------------------------- */

/* Defines leakwrap_NAME_attempt, which allocates like the slow path of NAME where threads do more
 * than record: the allocation may have to fail.  FAILURE is the statement that makes it fail. */
#ifdef LEAKWRAP_BARE
#define ENTRY_DEFINE_ATTEMPT(verb, type, name, parameters, arguments, size, failure)
#define ENTRY_ATTEMPT(name, arguments)
#else
#define ENTRY_DEFINE_ATTEMPT(verb, type, name, parameters, arguments, size, failure)     \
	ENTRY_SLOW_PATH type leakwrap_##name##_attempt(ENTRY_LIST parameters,            \
	                                               LEAKWRAP_CALLER_PARAMS)           \
	{                                                                                \
		struct leakwrap_attempt attempt;                                         \
		if (leakwrap_begin_attempt(&attempt, size, LEAKWRAP_CALLER_OF_PARAMS)) { \
			failure;                                                         \
		}                                                                        \
		void *new_block = ENTRY_CALL_ORIGINAL(name, arguments);                  \
		leakwrap_end_attempt(&attempt);                                          \
		return verb(attempt.site, new_block, size, LEAKWRAP_CALLER_OF_PARAMS);   \
	}
#define ENTRY_ATTEMPT(name, arguments)                                           \
	if (leakwrap_unlikely(leakwrap_self.state != LEAKWRAP_THREAD_RECORDING)) \
		return leakwrap_##name##_attempt(ENTRY_LIST arguments, LEAKWRAP_CALLER_PASSED);
#endif

/* Defines what leakwrap_NAME_allocate calls for a block that it skips (skipped_calls.h).
 * leakwrap_NAME_look takes the block back from the count, and counts it again if the settings let
 * it.  ENTRY_SKIP is a statement that skips the block, if SKIP says so and the count allows it. */
#ifdef LEAKWRAP_BARE
#define ENTRY_DEFINE_SKIPPED_CALL(skip, type, name, parameters, arguments, size)
#define ENTRY_SKIP(skip, self, name, arguments, size)
#else
#ifndef ENTRY_ORIGINAL_TO_SKIP
#define ENTRY_ORIGINAL_TO_SKIP(name) ENTRY_ORIGINAL(name)
#endif
#define ENTRY_DEFINE_SKIPPED_CALL(skip, type, name, parameters, arguments, size)             \
	ENTRY_NEXT_PATH type leakwrap_##name##_look parameters                               \
	{                                                                                    \
		struct leakwrap_thread *const self =                                         \
		        leakwrap_pick_self_after_call(leakwrap_kept_self());                 \
		self->beyond += (size);                                                      \
		if (leakwrap_likely(leakwrap_skip_by_settings(skip, self, size)))            \
			return ENTRY_CALL_ORIGINAL(name, arguments);                         \
		return leakwrap_##name##_not_fast arguments;                                 \
	}                                                                                    \
	ENTRY_SLOW_PATH leakwrap_function leakwrap_##name##_original(void)                   \
	{                                                                                    \
		return (leakwrap_function)ENTRY_ORIGINAL_TO_SKIP(name);                      \
	}                                                                                    \
	static struct leakwrap_skipped_call leakwrap_##name##_skipped                        \
	        LEAKWRAP_SKIPPED_CALLS_SECTION = {(leakwrap_function)leakwrap_##name##_look, \
	                                          (leakwrap_function)leakwrap_##name##_look, \
	                                          leakwrap_##name##_original,                \
	                                          (skip) == LEAKWRAP_SKIP_BEFORE_LEAF};
#define ENTRY_SKIP(skip, self, name, arguments, size)                                          \
	if ((skip) != LEAKWRAP_SKIP_NOT && leakwrap_likely(leakwrap_count_down(self, size))) { \
		__typeof__(leakwrap_##name##_look) *const next_call =                          \
		        (__typeof__(next_call))LEAKWRAP_LOAD_OPERAND(                          \
		                leakwrap_function, &leakwrap_##name##_skipped.next,            \
		                memory_order_relaxed);                                         \
		return next_call arguments;                                                    \
	}
#endif

/* Defines leakwrap_NAME_allocate, which calls the real function and records the block of SIZE bytes
 * that it returns.  This is malloc: its wrapper does nothing else.
 *
 * A thread that samples takes a second fast path.  It counts the block before the real call, if
 * SKIP says that this calls no other wrapped function.  Then nothing is left to do after it.
 * Otherwise an inner call may count the block, the block may be sampled, or a failure is to be
 * reported: leakwrap_NAME_sampled looks after the real call.  The wrapper leaves to it by jumps, so
 * that the caller there is the wrapper's, and need not be kept.  A compiler that called it would
 * add the wrapper to the sample's backtrace.  leakwrap_NAME_not_fast stands apart, so that the
 * wrapper saves no register before it leaves.
 *
 * IS_NEW: whether the function is an operator new, which calls malloc.  A constant.  Then the fast
 * path takes over what malloc has recorded, and the slow path expects that call (expected.h).
 *
 * The slot value is predicted before the real call.  Its loads have the whole call to arrive, and
 * nothing but the value is kept across the call.  LEAKWRAP_CALLER stands at each use, because a
 * variable for the caller would take a register that malloc had to save.  The new block is hidden
 * before the last call: else the compiler moves it there early, and back before it returns it. */
#define ENTRY_DEFINE_ALLOCATE(verb, skip, is_new, type, name, parameters, arguments, size,        \
                              failure)                                                            \
	ENTRY_DEFINE_ATTEMPT(verb, type, name, parameters, arguments, size, failure)              \
	ENTRY_SLOW_PATH type leakwrap_##name##_slow_path(ENTRY_LIST parameters,                   \
	                                                 LEAKWRAP_CALLER_PARAMS)                  \
	{                                                                                         \
		leakwrap_begin_allocation();                                                      \
		ENTRY_FIND_ORIGINAL();                                                            \
		ENTRY_ATTEMPT(name, arguments)                                                    \
		if (is_new)                                                                       \
			leakwrap_expect_malloc(sp);                                               \
		void *new_block = ENTRY_CALL_ORIGINAL(name, arguments);                           \
		if (is_new)                                                                       \
			leakwrap_end_expectation(new_block, sp);                                  \
		return verb(LEAKWRAP_SITE_NONE, new_block, size, LEAKWRAP_CALLER_OF_PARAMS);      \
	}                                                                                         \
	ENTRY_SLOW_PATH type leakwrap_##name##_sampled parameters                                 \
	{                                                                                         \
		size_t bytes = size;                                                              \
		LEAKWRAP_HIDE_VALUE(bytes); /* else it may be computed after the call */          \
		leakwrap_begin_allocation();                                                      \
		void *passed = ENTRY_CALL_ORIGINAL(name, arguments);                              \
		if (leakwrap_likely(passed && leakwrap_skip_after_call(bytes)))                   \
			return passed;                                                            \
		LEAKWRAP_HIDE_VALUE(passed);                                                      \
		return verb(LEAKWRAP_SITE_NONE, passed, bytes, LEAKWRAP_CALLER);                  \
	}                                                                                         \
	ENTRY_NEXT_PATH type leakwrap_##name##_not_fast parameters                                \
	{                                                                                         \
		if (leakwrap_likely(leakwrap_thread_is_sampling()))                               \
			return leakwrap_##name##_sampled arguments;                               \
		ENTRY_PASS_ON(ENTRY_CALL_ORIGINAL(name, arguments))                               \
		struct leakwrap_caller caller = LEAKWRAP_CALLER;                                  \
		ENTRY_MEET_EXPECTATION(verb, name, arguments, size)                               \
		return leakwrap_##name##_slow_path(ENTRY_LIST arguments,                          \
		                                   LEAKWRAP_CALLER_ARGS(caller));                 \
	}                                                                                         \
	ENTRY_DEFINE_SKIPPED_CALL(skip, type, name, parameters, arguments, size)                  \
	LEAKWRAP_INLINE type leakwrap_##name##_allocate parameters                                \
	{                                                                                         \
		struct leakwrap_thread *const self = leakwrap_kept_self();                        \
		if (leakwrap_unlikely(!leakwrap_may_be_fast(self, size))) {                       \
			ENTRY_SKIP(skip, self, name, arguments, size)                             \
			return leakwrap_##name##_not_fast arguments;                              \
		}                                                                                 \
		leakwrap_thread_begin_allocation(self);                                           \
		uint32_t value = leakwrap_fast_predict_small(self, size, LEAKWRAP_CALLER);        \
		if (leakwrap_unlikely(value == 0)) {                                              \
			struct leakwrap_caller caller = LEAKWRAP_CALLER;                          \
			return leakwrap_##name##_slow_path(ENTRY_LIST arguments,                  \
			                                   LEAKWRAP_CALLER_ARGS(caller));         \
		}                                                                                 \
		void *new_block = ENTRY_CALL_ORIGINAL(name, arguments);                           \
		if ((is_new) && leakwrap_likely(leakwrap_fast_take_over(self, value, new_block))) \
			return new_block;                                                         \
		if (leakwrap_likely(leakwrap_fast_record(self, value, new_block)))                \
			return new_block;                                                         \
		LEAKWRAP_HIDE_VALUE(new_block);                                                   \
		return verb(leakwrap_predicted_site(value), new_block,                            \
		            leakwrap_predicted_size(value), LEAKWRAP_CALLER);                     \
	}

/* Defines the wrapper of a function that returns a new block of SIZE bytes, or NULL.  FAILURE: the
 * statement that makes it fail (ENTRY_DEFINE_ATTEMPT). */
#define ENTRY_ALLOCATE_AS(verb, skip, is_new, type, name, parameters, arguments, size, failure) \
	ENTRY_DECLARE(type, name, parameters);                                                  \
	ENTRY_DEFINE_ALLOCATE(verb, skip, is_new, type, name, parameters, arguments, size,      \
	                      failure)                                                          \
	type ENTRY_WRAPPER(name, parameters)                                                    \
	{                                                                                       \
		return leakwrap_##name##_allocate arguments;                                    \
	}                                                                                       \
	ENTRY_EXPORT_ALLOCATE(type, name, parameters, arguments)

/* The same for a function that may call other wrapped functions. */
#define ENTRY_ALLOCATE(verb, type, name, parameters, arguments, size, failure)                     \
	ENTRY_ALLOCATE_AS(verb, LEAKWRAP_SKIP_NOT, false, type, name, parameters, arguments, size, \
	                  failure)

/* Defines leakwrap_NAME_resize_attempt, which resizes like the slow path of NAME where threads do
 * more than record.  A resize to 0 bytes may free the block, and is not made to fail. */
#ifdef LEAKWRAP_BARE
#define ENTRY_DEFINE_RESIZE_ATTEMPT(name, parameters, arguments, size)
#define ENTRY_RESIZE_ATTEMPT(name, arguments)
#else
#define ENTRY_DEFINE_RESIZE_ATTEMPT(name, parameters, arguments, size)                 \
	ENTRY_SLOW_PATH void *leakwrap_##name##_resize_attempt(ENTRY_LIST parameters,  \
	                                                       LEAKWRAP_CALLER_PARAMS) \
	{                                                                              \
		const struct leakwrap_caller caller = LEAKWRAP_CALLER_OF_PARAMS;       \
		struct leakwrap_attempt attempt = {.guard = 0};                        \
		struct leakwrap_resize resize;                                         \
		if ((size) != 0 && leakwrap_begin_attempt(&attempt, size, caller))     \
			return NULL;                                                   \
		leakwrap_begin_resize(&resize, block, size, caller.sp);                \
		ENTRY_FIND_ORIGINAL();                                                 \
		void *resized = ENTRY_CALL_ORIGINAL(name, arguments);                  \
		leakwrap_end_attempt(&attempt);                                        \
		return leakwrap_end_resize(&resize, resized, size, caller);            \
	}
#define ENTRY_RESIZE_ATTEMPT(name, arguments)                                    \
	if (leakwrap_unlikely(leakwrap_self.state != LEAKWRAP_THREAD_RECORDING)) \
		return leakwrap_##name##_resize_attempt(ENTRY_LIST arguments,    \
		                                        LEAKWRAP_CALLER_PASSED);
#endif

/* Defines the wrapper of a function that resizes the parameter "block" to SIZE bytes, or allocates
 * if "block" is NULL.  SKIP: see ENTRY_DEFINE_ALLOCATE. */
#define ENTRY_RESIZE(skip, name, parameters, arguments, size)                                    \
	ENTRY_DECLARE(void *, name, parameters);                                                 \
	ENTRY_DEFINE_ALLOCATE(leakwrap_record_malloc, skip, false, void *, name, parameters,     \
	                      arguments, size, return NULL)                                      \
	ENTRY_DEFINE_RESIZE_ATTEMPT(name, parameters, arguments, size)                           \
	ENTRY_SLOW_PATH void *leakwrap_##name##_slow_resize(ENTRY_LIST parameters,               \
	                                                    LEAKWRAP_CALLER_PARAMS)              \
	{                                                                                        \
		const struct leakwrap_caller caller = LEAKWRAP_CALLER_OF_PARAMS;                 \
		leakwrap_begin_allocation();                                                     \
		ENTRY_RESIZE_ATTEMPT(name, arguments)                                            \
		struct leakwrap_resize resize;                                                   \
		leakwrap_begin_resize(&resize, block, size, caller.sp);                          \
		ENTRY_FIND_ORIGINAL();                                                           \
		void *resized = ENTRY_CALL_ORIGINAL(name, arguments);                            \
		return leakwrap_end_resize(&resize, resized, size, caller);                      \
	}                                                                                        \
	ENTRY_SLOW_PATH void *leakwrap_##name##_fast_resize(ENTRY_LIST parameters,               \
	                                                    LEAKWRAP_CALLER_PARAMS)              \
	{                                                                                        \
		const struct leakwrap_caller caller = LEAKWRAP_CALLER_OF_PARAMS;                 \
		struct leakwrap_thread *const self = leakwrap_kept_self();                       \
		leakwrap_thread_begin_allocation(self);                                          \
		uint32_t value = leakwrap_fast_predict_small(self, size, caller);                \
		uint32_t old_value = leakwrap_fast_take(value, block, size);                     \
		if (leakwrap_unlikely(!old_value))                                               \
			return leakwrap_##name##_slow_resize(ENTRY_LIST arguments,               \
			                                     LEAKWRAP_CALLER_PASSED);            \
		void *resized = ENTRY_CALL_ORIGINAL(name, arguments);                            \
		self->releasing = NULL;                                                          \
		if (leakwrap_likely(leakwrap_fast_record(self, value, resized)))                 \
			return resized;                                                          \
		return leakwrap_end_fast_resize(old_value, block, resized, size, caller);        \
	}                                                                                        \
	ENTRY_NEXT_PATH void *leakwrap_##name##_resize_not_fast parameters                       \
	{                                                                                        \
		struct leakwrap_thread *const self =                                             \
		        leakwrap_pick_self_after_call(leakwrap_kept_self());                     \
		/* A resize to 0 bytes may free the block, and return NULL without a failure. */ \
		if (leakwrap_likely((size) != 0 && leakwrap_has_no_record(block))) {             \
			if (leakwrap_likely(leakwrap_skip_by_settings(skip, self, size)))        \
				return ENTRY_CALL_ORIGINAL(name, arguments);                     \
			return leakwrap_##name##_sampled arguments;                              \
		}                                                                                \
		ENTRY_PASS_ON(ENTRY_CALL_ORIGINAL(name, arguments))                              \
		struct leakwrap_caller caller = LEAKWRAP_CALLER;                                 \
		return leakwrap_##name##_slow_resize(ENTRY_LIST arguments,                       \
		                                     LEAKWRAP_CALLER_ARGS(caller));              \
	}                                                                                        \
	LEAKWRAP_INLINE void *leakwrap_##name##_resize parameters                                \
	{                                                                                        \
		struct leakwrap_thread *const self = leakwrap_kept_self();                       \
		if (leakwrap_unlikely(!leakwrap_may_be_fast(self, size))) {                      \
			if (block)                                                               \
				return leakwrap_##name##_resize_not_fast arguments;              \
			ENTRY_SKIP(skip, self, name, arguments, size)                            \
			return leakwrap_##name##_not_fast arguments;                             \
		}                                                                                \
		if (!block)                                                                      \
			return leakwrap_##name##_allocate arguments;                             \
		struct leakwrap_caller caller = LEAKWRAP_CALLER;                                 \
		return leakwrap_##name##_fast_resize(ENTRY_LIST arguments,                       \
		                                     LEAKWRAP_CALLER_ARGS(caller));              \
	}                                                                                        \
	void *ENTRY_WRAPPER(name, parameters)                                                    \
	{                                                                                        \
		return leakwrap_##name##_resize arguments;                                       \
	}                                                                                        \
	ENTRY_EXPORT_RESIZE(name, parameters, arguments)

/* Defines FUNCTION, the slow path of a function that frees the parameter "block". */
#define ENTRY_SLOW_RELEASE(verb, function, name, parameters, arguments)                        \
	ENTRY_SLOW_PATH void function parameters                                               \
	{                                                                                      \
		ENTRY_FIND_ORIGINAL();                                                         \
		if (!block) {                                                                  \
			ENTRY_CALL_ORIGINAL(name, arguments);                                  \
			return;                                                                \
		}                                                                              \
		struct leakwrap_enclosing_release enclosing = verb(block, LEAKWRAP_CALLER.sp); \
		ENTRY_CALL_ORIGINAL(name, arguments);                                          \
		leakwrap_end_release(enclosing);                                               \
	}

/* The body of a wrapper that frees the parameter "block".  SLOW_PATH frees it where the fast
 * path does not apply. */
#define ENTRY_FREE(name, arguments, slow_path)                     \
	struct leakwrap_thread *const self = leakwrap_kept_self(); \
	switch (leakwrap_fast_remove(self, block)) {               \
	case LEAKWRAP_REMOVED:                                     \
		ENTRY_CALL_ORIGINAL(name, arguments);              \
		self->releasing = NULL;                            \
		break;                                             \
	case LEAKWRAP_NO_RECORD:                                   \
		ENTRY_CALL_ORIGINAL(name, arguments);              \
		break;                                             \
	case LEAKWRAP_NOT_FAST:                                    \
		slow_path arguments;                               \
		break;                                             \
	}

/* Defines the paths of a wrapper that frees the parameter "block" (release_paths.h).  FUNCTION
 * begins their names.  ENTRY_FREE_BY_PATH is the wrapper's body.  SPECIAL is a statement that may
 * free the block in another way, and return.  SLOW_PATH: see ENTRY_FREE. */
#if LEAKWRAP_HAVE_MEMORY_JUMP && !defined LEAKWRAP_BARE
#define ENTRY_DEFINE_FREE_PATHS(function, name, parameters, arguments, special, slow_path)       \
	ENTRY_NEXT_PATH void function##_of_any parameters                                        \
	{                                                                                        \
		special ENTRY_FREE(name, arguments, slow_path);                                  \
	}                                                                                        \
	ENTRY_NEXT_PATH void function##_of_sampled parameters                                    \
	{                                                                                        \
		if (leakwrap_unlikely(leakwrap_may_be_sampled(block)))                           \
			function##_of_any arguments;                                             \
		else                                                                             \
			ENTRY_CALL_ORIGINAL(name, arguments);                                    \
	}                                                                                        \
	ENTRY_NEXT_PATH void function##_of_unrecorded parameters                                 \
	{                                                                                        \
		ENTRY_CALL_ORIGINAL(name, arguments);                                            \
	}                                                                                        \
	static struct leakwrap_release_paths function##_paths LEAKWRAP_RELEASE_PATHS_SECTION = { \
	        (leakwrap_release_function)function##_of_any,                                    \
	        {(leakwrap_release_function)function##_of_unrecorded,                            \
	         (leakwrap_release_function)function##_of_sampled,                               \
	         (leakwrap_release_function)function##_of_any}};
#define ENTRY_FREE_BY_PATH(function, name, arguments, special, slow_path) \
	((__typeof__(function##_of_any) *)LEAKWRAP_LOAD_OPERAND(          \
	        leakwrap_release_function, &function##_paths.now, memory_order_relaxed)) arguments
#else
#define ENTRY_DEFINE_FREE_PATHS(function, name, parameters, arguments, special, slow_path)
#define ENTRY_FREE_BY_PATH(function, name, arguments, special, slow_path) \
	special ENTRY_FREE(name, arguments, slow_path)
#endif

/* Defines the wrapper of a function that frees the parameter "block". */
#define ENTRY_RELEASE(verb, name, parameters, arguments)                                   \
	ENTRY_DECLARE(void, name, parameters);                                             \
	ENTRY_SLOW_RELEASE(verb, leakwrap_##name##_slow_path, name, parameters, arguments) \
	ENTRY_DEFINE_FREE_PATHS(leakwrap_##name, name, parameters, arguments, ,            \
	                        leakwrap_##name##_slow_path)                               \
	void ENTRY_WRAPPER(name, parameters)                                               \
	{                                                                                  \
		ENTRY_FREE_BY_PATH(leakwrap_##name, name, arguments, ,                     \
		                   leakwrap_##name##_slow_path);                           \
	}                                                                                  \
	ENTRY_EXPORT_RELEASE(name, parameters, arguments)

/* -- the C library's functions that allocate --------------------------------------------------- */

/* Defines the wrapper of a function that may allocate by an inner call, and returns RESULT.  The
 * new block is then BLOCK, which may be NULL.  RECORD is an expression that records it and has the
 * value RESULT.  FAILURE is the statement that makes the function fail.
 *
 * A thread that does not simply record leaves to another function by a jump, as in
 * ENTRY_DEFINE_ALLOCATE.  So the wrapper keeps no registers for what that function does. */
#ifdef LEAKWRAP_BARE
#define ENTRY_OUTER(type, name, parameters, arguments, block, record, failure) \
	ENTRY_DECLARE(type, name, parameters);                                 \
	type __wrap_##name parameters                                          \
	{                                                                      \
		leakwrap_begin_allocation();                                   \
		type result = __real_##name arguments;                         \
		return record;                                                 \
	}
#else
#define ENTRY_OUTER(type, name, parameters, arguments, block, record, failure)           \
	ENTRY_DECLARE(type, name, parameters);                                           \
	ENTRY_NEXT_PATH type leakwrap_##name##_attempt parameters                        \
	{                                                                                \
		ENTRY_PASS_ON(__real_##name arguments)                                   \
		struct leakwrap_attempt attempt;                                         \
		if (leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER)) {              \
			failure;                                                         \
		}                                                                        \
		type result = __real_##name arguments;                                   \
		leakwrap_end_attempt(&attempt);                                          \
		return record;                                                           \
	}                                                                                \
	ENTRY_SLOW_PATH type leakwrap_##name##_sampled parameters                        \
	{                                                                                \
		type result = __real_##name arguments;                                   \
		if (leakwrap_likely((block) && leakwrap_is_skipped(block)))              \
			return result;                                                   \
		return record;                                                           \
	}                                                                                \
	type __wrap_##name parameters                                                    \
	{                                                                                \
		leakwrap_begin_allocation();                                             \
		if (leakwrap_unlikely(leakwrap_self.state != LEAKWRAP_THREAD_RECORDING)) \
			return leakwrap_self.state >= LEAKWRAP_THREAD_SAMPLING           \
			               ? leakwrap_##name##_sampled arguments             \
			               : leakwrap_##name##_attempt arguments;            \
		type result = __real_##name arguments;                                   \
		return record;                                                           \
	}
#endif

/* Defines the wrapper of a function that returns a new string, or NULL. */
#define ENTRY_STRING(name, parameters, arguments)                \
	ENTRY_OUTER(char *, name, parameters, arguments, result, \
	            entry_string(result, LEAKWRAP_CALLER), return NULL)

/* Defines the wrapper of a function that may replace *VECTOR by another block or NULL, and stores
 * its length in *LENGTH: argz and envz.  If CHANGES, an expression over the parameters, is false,
 * the function does not even read the two: then the pointers to them may be bad. */
#define ENTRY_REPLACE(type, name, parameters, arguments, changes)                             \
	ENTRY_DECLARE(type, name, parameters);                                                \
	type __wrap_##name parameters                                                         \
	{                                                                                     \
		ENTRY_PASS_ON_FIRST(__real_##name arguments)                                  \
		if (!(changes))                                                               \
			return __real_##name arguments;                                       \
		struct leakwrap_attempt attempt = {.guard = 0};                               \
		if (entry_may_fail() && leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER)) \
			return (type)ENOMEM;                                                  \
		struct leakwrap_replacement old =                                             \
		        leakwrap_begin_replacement(*vector, *length, LEAKWRAP_CALLER.sp);     \
		type result = __real_##name arguments;                                        \
		leakwrap_end_attempt(&attempt);                                               \
		leakwrap_end_replacement(old, *vector, *length, LEAKWRAP_CALLER);             \
		return result;                                                                \
	}

/* Records the new STRING, which is NULL after a failure.  Returns STRING. */
static inline char *entry_string(char *string, struct leakwrap_caller caller)
{
	if (!string)
		leakwrap_record_failure(0, errno);
	return leakwrap_record_inner_size(string, string ? strlen(string) + 1 : 0, caller);
}

/* Records the new *STRING of LENGTH characters.  If LENGTH is negative, *STRING is undefined and
 * nothing is recorded.  Returns LENGTH. */
static inline int entry_formatted(char *const *string, int length, struct leakwrap_caller caller)
{
	if (length >= 0)
		leakwrap_record_inner_size(*string, (size_t)length + 1, caller);
	return length;
}

#endif
