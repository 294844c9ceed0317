/* askers.c - see askers.h.
 *
 * Works in rounds.  A round finds the frame that asked in each stack, with the wrappers known so
 * far, and notes who calls its function, and what other functions lead to.  Then more functions
 * may turn out to be wrappers, and another round begins.
 */
#include "tools/model/askers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/table.h"
#include "tools/model/suppress.h"
#include "tools/model/view.h"

enum {
	CALLERS_OF_WRAPPER = 8, /* of a function whose name says nothing */
	CALLERS_IF_NAMED = 2,   /* of a function whose name suggests a wrapper */
	POINTS_OF_WRAPPER = 2,
	ROUNDS_MAX = 32,
};

/* What a function's name says. */
enum hint {
	HINT_NONE,
	HINT_PERHAPS, /* "alloc": a wrapper, if several functions call it or a wrapper does */
	HINT_LIKELY,  /* a word of malloc's family: also if it calls a wrapper */
	HINT_WRAPPER,
};

struct function {
	const char *name; /* interned */
	enum hint hint;
	bool is_wrapper;
	/* Of the current round: */
	const void *callers[CALLERS_OF_WRAPPER]; /* names, or modules of functions without one */
	unsigned caller_count;
	const struct frame *points[POINTS_OF_WRAPPER + 1]; /* in it, that allocate */
	unsigned point_count;
	bool wrapper_calls; /* a caller's name suggests a wrapper */
	bool calls_wrapper;
	bool leads_on; /* in some stack a function that it called asked */
};

/* A frame of a location. */
struct known_frame {
	const struct frame *frame;
	const struct module *module;
	struct function *function; /* or NULL */
	bool skip, keep;           /* the user says so */
};

struct finder {
	struct arena arena; /* of the functions */
	struct report *report;
	struct known_frame *frames;
	unsigned *first; /* of each location, in FRAMES */
	struct function **functions;
	size_t function_count, function_room;
	struct known_frame **stack; /* the frames of the current stack */
	size_t stack_room;
};

/* -- names ------------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Returns true if FULL, whose plain name is PLAIN, is a method of a type that Rust has built in:
 * "<[u8]>::to_vec".  Only Rust's library has such methods. */
static bool is_of_builtin_type(const char *full, const char *plain)
{
	const char *method = strstr(plain, "::");
	return *full == '<' && method && (*plain == '[' || !strstr(method + 2, "::"));
}

/* Returns true if the function FULL, whose plain name is PLAIN, is of C++'s or Rust's library. */
static bool is_of_language(const char *full, const char *plain)
{
	/* A C++ program may have a namespace "core". */
	static const char *const scopes[] = {
	        "std::",           "__gnu_cxx::",    "operator new",  "alloc::",
	        "core::array::",   "core::cell::",   "core::clone::", "core::convert::",
	        "core::default::", "core::fmt::",    "core::iter::",  "core::ops::",
	        "core::option::",  "core::result::", "core::slice::", "core::str::",
	        "hashbrown::",     "__rustc::",      "__rust_",       "__rdl_",
	        "__rg_",
	};
	for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
		if (begins_with(plain, scopes[i]))
			return true;
	return is_of_builtin_type(full, plain);
}

static enum hint hint_of(struct arena *scratch, const char *full)
{
	static const char *const family[] = {"malloc",   "calloc", "realloc",  "reallocarray",
	                                     "memalign", "valloc", "strdup",   "strndup",
	                                     "memdup",   "wcsdup", "asprintf", "aligned_alloc"};
	char *name = plain_name(scratch, full);
	enum hint hint = HINT_NONE;

	if (is_of_language(full, name))
		return HINT_WRAPPER;
	size_t length = strlen(name);
	for (size_t i = 0; i < length; i++)
		name[i] = (char)tolower((unsigned char)name[i]);
	for (char *colon; (colon = strstr(name, "::"));)
		name = colon + 2;
	char *point = strrchr(name, '.');
	if (point)
		name = point + 1;
	length = strlen(name);
	while (length && (name[length - 1] == '_' || isdigit((unsigned char)name[length - 1])))
		name[--length] = '\0';
	if (strstr(name, "dealloc"))
		return HINT_NONE;
	if (strstr(name, "alloc"))
		hint = HINT_PERHAPS;
	for (size_t i = 0; i < sizeof family / sizeof *family; i++) {
		size_t own = strlen(family[i]);
		if (length >= own && strcmp(name + length - own, family[i]) == 0)
			return HINT_WRAPPER;
		if (strstr(name, family[i]))
			hint = HINT_LIKELY;
	}
	return hint;
}

/* -- what is known beforehand ------------------------------------------------------------------ */

static bool same_function(const void *key, const void *entry)
{
	return key == ((const struct function *)entry)->name;
}

static struct function *add_function(struct finder *finder, struct table *table, const char *name)
{
	uint64_t hash = hash_word(0, (uintptr_t)name);
	struct function *function = table_find(table, hash, name, same_function);
	if (!function) {
		struct arena scratch = {0};
		function = arena_alloc(&finder->arena, sizeof *function);
		function->name = name;
		function->hint = hint_of(&scratch, name);
		function->is_wrapper = function->hint == HINT_WRAPPER;
		arena_free(&scratch);
		table_add(table, hash, function);
		GROW(finder->functions, finder->function_room, finder->function_count + 1);
		finder->functions[finder->function_count++] = function;
	}
	return function;
}

static bool matches_any(const struct patterns *patterns, const struct location *at,
                        const struct frame *frame)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (frame_matches(patterns->all[i], at, frame))
			return true;
	return false;
}

static void know_frames(struct finder *finder, const struct skips *skips)
{
	const struct report *report = finder->report;
	struct table table = {0};
	unsigned count = 0;

	finder->first = xmalloc((report->location_count + 1) * sizeof *finder->first);
	for (size_t i = 0; i < report->location_count; i++) {
		finder->first[i] = count;
		count += report->locations[i]->frame_count;
	}
	finder->frames = xzalloc((count + 1) * sizeof *finder->frames);
	for (size_t i = 0; i < report->location_count; i++) {
		const struct location *at = report->locations[i];
		for (unsigned j = 0; j < at->frame_count; j++) {
			struct known_frame *known = &finder->frames[finder->first[i] + j];
			known->frame = &at->frames[j];
			known->module = at->module;
			if (known->frame->function)
				known->function =
				        add_function(finder, &table, known->frame->function);
			known->keep = matches_any(&skips->keep, at, known->frame);
			known->skip = matches_any(&skips->skip, at, known->frame);
		}
	}
	table_free(&table);
}

/* -- rounds ------------------------------------------------------------------------------------ */

static bool is_skipped(const struct known_frame *known)
{
	return !known->keep && (known->skip || (known->function && known->function->is_wrapper));
}

/* Sets finder->stack to the frames of STACK down to main.  Returns how many there are. */
static unsigned lay_out(struct finder *finder, const struct stack *stack)
{
	unsigned count = 0, most = frames_to_main(stack);

	GROW(finder->stack, finder->stack_room, most + 1);
	for (unsigned i = 0; i < stack->depth && count < most; i++) {
		unsigned first = finder->first[stack->at[i]->number];
		for (unsigned j = 0; j < stack->at[i]->frame_count && count < most; j++)
			finder->stack[count++] = &finder->frames[first + j];
	}
	return count;
}

/* Notes that FRAME asked for memory. */
static void note_point(struct function *function, const struct frame *frame)
{
	for (unsigned i = 0; i < function->point_count; i++) {
		const struct frame *point = function->points[i];
		if (point == frame ||
		    (frame->line && point->line == frame->line && point->file == frame->file))
			return;
	}
	if (function->point_count <= POINTS_OF_WRAPPER)
		function->points[function->point_count++] = frame;
}

static void note_caller(struct function *function, const struct known_frame *caller)
{
	const void *name = caller->function ? (const void *)caller->function : caller->module;
	if (caller->function == function)
		return;
	if (caller->function && caller->function->hint != HINT_NONE)
		function->wrapper_calls = true;
	for (unsigned i = 0; i < function->caller_count; i++)
		if (function->callers[i] == name)
			return;
	if (function->caller_count < CALLERS_OF_WRAPPER)
		function->callers[function->caller_count++] = name;
}

/* Finds the frame that asked in STACK, and notes what this shows about its functions. */
static void note_stack(struct finder *finder, struct stack *stack)
{
	unsigned count = lay_out(finder, stack), asked = 0;

	while (asked < count && is_skipped(finder->stack[asked]))
		asked++;
	if (asked == count && count) /* main itself, say, is named like a wrapper */
		asked--;
	stack->asked = asked;
	if (asked + 1 >= count)
		return;
	struct function *function = finder->stack[asked]->function;
	if (function) {
		note_point(function, finder->stack[asked]->frame);
		note_caller(function, finder->stack[asked + 1]);
		function->calls_wrapper |= asked > 0;
	}
	for (unsigned i = asked + 1; i < count; i++)
		if (finder->stack[i]->function)
			finder->stack[i]->function->leads_on = true;
}

/* Returns true if FUNCTION is a wrapper by what the round noted, and was not known as one. */
static bool is_shown_to_wrap(const struct function *function)
{
	if (function->is_wrapper || function->leads_on || function->point_count == 0)
		return false;
	if (function->hint == HINT_LIKELY && function->calls_wrapper)
		return true;
	if (function->hint != HINT_NONE)
		return function->caller_count >= CALLERS_IF_NAMED || function->wrapper_calls;
	return function->caller_count >= CALLERS_OF_WRAPPER &&
	       function->point_count <= POINTS_OF_WRAPPER;
}

/* Goes through all stacks once.  Returns true if it found more wrappers. */
static bool run_round(struct finder *finder)
{
	bool more = false;

	for (size_t i = 0; i < finder->function_count; i++) {
		struct function *function = finder->functions[i];
		function->caller_count = function->point_count = 0;
		function->wrapper_calls = function->leads_on = false;
		function->calls_wrapper = false;
	}
	for (size_t i = 0; i < finder->report->stack_count; i++)
		note_stack(finder, finder->report->stacks[i]);
	for (size_t i = 0; i < finder->function_count; i++) {
		if (is_shown_to_wrap(finder->functions[i]))
			finder->functions[i]->is_wrapper = more = true;
	}
	return more;
}

void find_askers(struct report *report, const struct skips *skips)
{
	struct finder finder = {.report = report};

	if (skips->none)
		return;
	know_frames(&finder, skips);
	for (unsigned i = 0; i < ROUNDS_MAX && run_round(&finder); i++)
		;
	free(finder.frames);
	free(finder.first);
	free(finder.functions);
	free(finder.stack);
	arena_free(&finder.arena);
}

void skips_free(struct skips *skips)
{
	free(skips->skip.all);
	free(skips->keep.all);
}
