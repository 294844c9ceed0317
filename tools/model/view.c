/* view.c - see view.h. */
#include "tools/model/view.h"

#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
#include "tools/model/kinds.h"
#include "tools/model/totals.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- selection --------------------------------------------------------------------------------- */

struct dump_list list_dumps(struct report *report, enum which_dumps which)
{
	struct dump_list list = {arena_alloc(&report->arena, report->dump_count * sizeof *list.all),
	                         0};
	for (size_t i = 0; i < report->dump_count; i++)
		if (which == DUMPS_ALL || report->dumps[i]->last ||
		    (which == DUMPS_LAST_OR_CHOSEN && report->dumps[i]->chosen))
			list.all[list.count++] = report->dumps[i];
	return list;
}

int64_t seconds_between(const struct dump *first, const struct dump *later)
{
	if (first->uptime > 0 && later->uptime > 0)
		return later->uptime - first->uptime;
	return first->seconds >= 0 && later->seconds >= 0 ? later->seconds - first->seconds : -1;
}

bool is_timed(const struct dump_list *dumps, int64_t least)
{
	const struct dump *const *all = dumps->all;

	for (size_t i = 1; i < dumps->count; i++)
		if (seconds_between(all[i - 1], all[i]) < 0)
			return false;
	return seconds_between(all[0], all[dumps->count - 1]) >= least;
}

/* -- names ------------------------------------------------------------------------------------- */

static const char *raw_name(struct arena *arena, const struct location *location)
{
	if (!location->module)
		return arena_format(arena, "0x%" PRIx64, location->offset);
	return arena_format(arena, "%s+0x%" PRIx64, location->module->name, location->offset);
}

const char *frame_name(struct arena *arena, const struct location *location,
                       const struct frame *frame)
{
	return frame->function ? frame->function : raw_name(arena, location);
}

const char *frame_place(struct arena *arena, const struct location *location,
                        const struct frame *frame)
{
	if (frame->file && frame->line)
		return arena_format(arena, "%s:%u", frame->file, frame->line);
	if (frame->file)
		return frame->file;
	return raw_name(arena, location);
}

/* The signals that crash=1 traces, and their codes from 1 on (sigaction(2)).  The numbers are equal
 * on all architectures of the runtime. */
enum { CODES = 8 };

static const struct {
	unsigned number;
	const char *name;
	const char *codes[CODES];
} signals[] = {
        {4,
         "SIGILL",
         {"ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG",
          "ILL_COPROC", "ILL_BADSTK"}},
        {5, "SIGTRAP", {"TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT", "TRAP_UNK"}},
        {6, "SIGABRT", {NULL}},
        {7, "SIGBUS", {"BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"}},
        {8,
         "SIGFPE",
         {"FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES",
          "FPE_FLTINV", "FPE_FLTSUB"}},
        {11, "SIGSEGV", {"SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR"}},
};

/* Returns the name of a code that any signal may have (sigaction(2)), or NULL. */
static const char *general_code(int64_t code)
{
	switch (code) {
	case 0x80:
		return "SI_KERNEL";
	case 0:
		return "SI_USER";
	case -1:
		return "SI_QUEUE";
	case -6:
		return "SI_TKILL";
	default:
		return NULL;
	}
}

/* Returns the register of FAULT that has one of the COUNT names, or NULL. */
static const struct machine_register *find_register(const struct fault *fault,
                                                    const char *const *names, size_t count)
{
	for (size_t i = 0; i < fault->register_count; i++)
		for (size_t j = 0; j < count; j++)
			if (strcmp(fault->registers[i].name, names[j]) == 0)
				return &fault->registers[i];
	return NULL;
}

/* Returns whether FAULT is an access to missing memory near the stack pointer.  A call writes below
 * the stack pointer, and a function without calls may keep variables there.  The first access to a
 * large frame may lie far above it.  If a Cortex-M could not store the program counter, the dump
 * has a note about the overflow, and this function returns false. */
static bool is_stack_overflow(const struct fault *fault)
{
	static const char *const pc_names[] = {"rip", "eip", "pc"};
	static const char *const sp_names[] = {"rsp", "esp", "sp"};
	const uint64_t below = 512, above = 64 << 10;
	const bool is_access = fault->signal == 11 && (fault->code == 1 || fault->code == 2);
	const struct machine_register *sp = find_register(fault, sp_names, 3);

	return is_access && fault->addressed && sp && find_register(fault, pc_names, 3) &&
	       fault->fault_address - sp->value + below < below + above;
}

const char *fault_text(struct arena *arena, const struct fault *fault)
{
	if (!fault->told)
		return "an unknown signal";

	const char *name = NULL, *code = general_code(fault->code);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		if (signals[i].number != fault->signal)
			continue;
		name = signals[i].name;
		if (fault->code > 0 && fault->code <= CODES)
			code = signals[i].codes[fault->code - 1];
	}
	if (!name)
		name = arena_format(arena, "signal %u", fault->signal);
	const char *cause = arena_format(arena, "%s (code %" PRId64 "%s%s)", name, fault->code,
	                                 code ? ", " : "", code ? code : "");
	if (fault->exception)
		cause = arena_format(arena, "%s, %s", fault->exception, cause);
	if (fault->addressed)
		cause = arena_format(arena, "%s at address 0x%" PRIx64, cause,
		                     fault->fault_address);
	if (fault->thread)
		cause = arena_format(arena, "%s in thread %" PRIu64, cause, fault->thread);
	if (fault->task)
		cause = arena_format(arena, "%s, task %s", cause, fault->task);
	if (is_stack_overflow(fault))
		cause = arena_format(arena, "%s: its stack has probably overflowed", cause);
	return cause;
}

const char *misuse_text(struct arena *arena, const struct misuse *misuse)
{
	static const char *const texts[][2] = {
	        {"double_free", "double free of"},
	        {"interior_pointer", "release of a pointer into a block,"},
	        {"stack_pointer", "release of a pointer into the stack,"},
	        {"static_pointer", "release of a pointer into static data,"},
	        {"mismatch", "release by a function of another kind, of"},
	};

	if (!misuse->what)
		return "an unknown misuse";
	const char *text = misuse->what;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(misuse->what, texts[i][0]) == 0)
			text = texts[i][1];
	text = arena_format(arena, "%s 0x%" PRIx64 " by %s", text, misuse->pointer,
	                    misuse->function);
	if (misuse->thread)
		text = arena_format(arena, "%s in thread %" PRIu64, text, misuse->thread);
	return text;
}

const char *misuse_block_text(struct arena *arena, const struct misuse *misuse)
{
	return arena_format(arena, "%s byte%s at 0x%" PRIx64 ", allocated%s%s",
	                    with_commas(misuse->bytes), misuse->bytes == 1 ? "" : "s",
	                    misuse->address, misuse->maker ? " by " : "",
	                    misuse->maker ? misuse->maker : "");
}

/* Returns the length of the words of a path at TEXT: "alloc::vec::Vec". */
static size_t path_length(const char *text)
{
	size_t length = 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == ':')
		length++;
	return length;
}

/* Returns true if the type of Rust at TEXT has a path, as all types of programs have: not T, nor
 * [u8]. */
static bool has_path(const char *text)
{
	return *text == '<' || memmem(text, path_length(text), "::", 2);
}

/* Returns FULL, a method of Rust, without the brackets in front: "<Vec<T> as Clone>::clone" becomes
 * "Vec<T>::clone".  The trait takes the place of a type without a path.  Returns any other name as
 * it is. */
static const char *open_brackets(struct arena *arena, const char *full)
{
	if (*full != '<')
		return full;
	const char *type = full + 1 + strspn(full + 1, "&"), *trait = NULL;
	type += strncmp(type, "mut ", 4) == 0 ? 4 : 0;
	const char *end = type;
	for (unsigned depth = 0; *end && !(*end == '>' && depth == 0); end++) {
		if (strncmp(end, "->", 2) == 0)
			end++;
		else if (*end == '<')
			depth++;
		else if (*end == '>')
			depth--;
		else if (depth == 0 && strncmp(end, " as ", 4) == 0)
			trait = end + 4;
	}
	if (!*end)
		return full;
	if (trait && !has_path(type))
		return arena_format(arena, "%.*s%s", (int)(end - trait), trait, end + 1);
	const char *type_end = trait ? trait - 4 : end;
	return arena_format(arena, "%.*s%s", (int)(type_end - type), type, end + 1);
}

/* Returns true if the point at TEXT separates names of D: "app.Server.start(int)".  A suffix of a
 * compiler has no parameters behind it. */
static bool is_separator(const char *text)
{
	return path_length(text + 1) > 0 && strchr(text, '(');
}

/* Returns the last character of the brackets that begin at TEXT. */
static const char *closing_bracket(const char *text)
{
	unsigned depth = 1;
	while (depth > 0 && text[1]) {
		text++;
		depth += *text == '(';
		depth -= *text == ')';
	}
	return text;
}

char *plain_name(struct arena *arena, const char *full)
{
	static const char anonymous[] = "(anonymous namespace)";
	/* A type or a trait inside a method has brackets of its own. */
	full = open_brackets(arena, open_brackets(arena, full));
	char *name = arena_alloc(arena, strlen(full) + 1), *out = name;
	unsigned depth = 0;

	for (const char *s = full; *s; s++) {
		if (strncmp(s, anonymous, sizeof anonymous - 1) == 0) {
			s += sizeof anonymous - 2;
		} else if (strncmp(s, "operator", 8) == 0 && depth == 0) {
			size_t length = 8 + strcspn(s + 8, "(");
			out = mempcpy(out, s, length ? length : 1);
			break;
		} else if (strncmp(s, "!(", 2) == 0 && depth == 0) {
			s = closing_bracket(s + 1); /* the arguments of a template of D */
		} else if (*s == '<' || *s == '{') {
			if (depth++ == 0 && out - name > 2 && out[-1] == ':')
				out -= 2; /* foo::<u8> and foo::{closure#0} are foo */
		} else if (strncmp(s, "->", 2) == 0 && depth) {
			s++;
		} else if (*s == '>' || *s == '}') {
			depth -= depth > 0;
		} else if (depth == 0) {
			if (*s == '(' || (*s == '.' && s > full && !is_separator(s)))
				break;
			if (*s == ' ' && (out == name || out[-1] != ';')) /* not in [u8; 3] */
				out = name; /* the words before it are a type */
			else
				*out++ = *s;
		}
	}
	*out = '\0';
	return name;
}

/* -- parts of a stack -------------------------------------------------------------------------- */

/* Returns true if FRAME is in code that calls main, or the first function of a thread. */
static bool starts_thread(const struct location *location, const struct frame *frame)
{
	/* glibc's, musl's, uClibc-ng's, dietlibc's and newlib's. */
	static const char *const functions[] = {
	        "_start",
	        "__start",
	        "_start_c",
	        "start_c",
	        "__libc_start_main",
	        "__libc_start_call_main",
	        "__uClibc_main",
	        "clone",
	        "clone3",
	        "__clone",
	        "__clone3",
	        "__clone_internal",
	        "start_thread",
	        "__libc_start_main_impl",
	        "libc_start_main_stage2",
	        "_mainCRTStartup",
	        "__thread_start",
	        "call_init",
	        "_dl_init",
	        "__libc_csu_init",
	        "__libc_start_init",
	        "libc_start_init",
	        "_dl_start_user",
	};
	static const char *const libraries[] = {"libc.so", "libc-", "libpthread", "ld-"};

	/* glibc's own calls of a function have a second name for it. */
	const char *name = frame->function;

	if (name && strncmp(name, "__GI_", 5) == 0)
		name += 5;
	for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++) {
		size_t length = strlen(functions[i]);
		if (strncmp(name, functions[i], length) == 0 &&
		    (name[length] == '\0' || name[length] == '@'))
			return true;
	}
	/* A C library without symbols has no names. */
	for (size_t i = 0; !name && location->module && i < sizeof libraries / sizeof *libraries;
	     i++)
		if (strncmp(location->module->name, libraries[i], strlen(libraries[i])) == 0)
			return true;
	return false;
}

unsigned frames_to_main(const struct stack *stack)
{
	unsigned count = 0, to_main = 0, inner = 0;

	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		for (unsigned j = 0; j < at->frame_count; j++) {
			count++;
			if (at->frames[j].function && strcmp(at->frames[j].function, "main") == 0 &&
			    at->module && at->module->main)
				to_main = count;
			if (!starts_thread(at, &at->frames[j]))
				inner = count;
		}
	}
	return to_main ? to_main : inner ? inner : count;
}

/* -- attribution ------------------------------------------------------------------------------- */

const char *const group_kind_names[6] = {"none", "function", "file", "module", "member", "origin"};

enum group_kind group_kind_named(const char *name)
{
	for (unsigned i = GROUP_FUNCTION; i <= GROUP_ORIGIN; i++)
		if (strcmp(name, group_kind_names[i]) == 0)
			return (enum group_kind)i;
	return GROUP_NONE;
}

/* Returns what FRAME belongs to.  Equal names have one address. */
static const char *group_name(enum group_kind kind, const struct location *location,
                              const struct frame *frame)
{
	static const char unknown[] = "(not known)";
	const char *name = NULL;
	switch (kind) {
	case GROUP_FUNCTION:
		name = frame->function;
		break;
	case GROUP_FILE:
		name = frame->file;
		break;
	case GROUP_MEMBER:
		name = location->object;
		break;
	case GROUP_ORIGIN:
	case GROUP_MODULE:
	case GROUP_NONE:
		break;
	}
	if (name)
		return name;
	return location->module ? location->module->path : unknown;
}

static const char no_stack[] = "(no stack)";

const char *group_of_stack(const struct stack *stack, enum group_kind kind)
{
	unsigned count = 0;
	if (kind == GROUP_ORIGIN)
		return stack->origin;
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		if (stack->asked < count + at->frame_count)
			return group_name(kind, at, &at->frames[stack->asked - count]);
		count += at->frame_count;
	}
	return no_stack;
}

static bool same_group(const void *key, const void *entry)
{
	return key == ((const struct group *)entry)->name;
}

static struct group *find_group(struct arena *arena, struct groups *groups, struct table *table,
                                const char *name)
{
	uint64_t hash = hash_word(0, (uintptr_t)name);
	struct group *group = table_find(table, hash, name, same_group);
	if (!group) {
		group = arena_alloc(arena, sizeof *group);
		group->name = name;
		table_add(table, hash, group);
		GROW(groups->all, groups->room, groups->count + 1);
		groups->all[groups->count++] = group;
	}
	return group;
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = *(struct group *const *)left, *b = *(struct group *const *)right;
	int first = compare_lost(&a->reach, &b->reach);
	if (first)
		return first;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	if (a->through_bytes != b->through_bytes)
		return a->through_bytes > b->through_bytes ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct groups group_dump(struct arena *arena, const struct dump *dump, enum group_kind kind)
{
	struct groups groups = {0};
	struct table table = {0};

	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		const struct stack *stack = site->stack;
		struct group *asked =
		        find_group(arena, &groups, &table, group_of_stack(stack, kind));
		/* All frames of a call site have one origin. */
		const unsigned depth = kind == GROUP_ORIGIN ? 0 : stack->depth;
		for (unsigned j = 0; j < depth; j++) {
			const struct location *at = stack->at[j];
			for (unsigned k = 0; k < at->frame_count; k++) {
				struct group *group =
				        find_group(arena, &groups, &table,
				                   group_name(kind, at, &at->frames[k]));
				if (group->counted == i + 1)
					continue;
				group->counted = i + 1;
				add_up(&group->through_bytes, site->bytes);
				add_up(&group->through_blocks, site->blocks);
			}
		}
		if (depth == 0) {
			add_up(&asked->through_bytes, site->bytes);
			add_up(&asked->through_blocks, site->blocks);
		}
		add_up(&asked->bytes, site->bytes);
		add_up(&asked->blocks, site->blocks);
		add_reach(&asked->reach, &site->reach);
		add_reach(&asked->all_kinds, all_kinds_of(site));
		asked->sites++;
	}
	table_free(&table);
	if (groups.count)
		qsort(groups.all, groups.count, sizeof *groups.all, compare_groups);
	return groups;
}
