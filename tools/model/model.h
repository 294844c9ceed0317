/* model.h - what the dumps say, with equal things stored once.
 *
 * Dumps share their modules, locations (a return address less the load bias of its module) and
 * stacks.  A call site of a dump is two numbers and a pointer, so a thousand dumps of one process
 * cost little more than the first.  Two runs with different load addresses have the same stacks.
 *
 * The symbolizer finds the meaning of each location.  The renderers only read.
 */
#ifndef TOOLS_MODEL_MODEL_H
#define TOOLS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/system_lists.h"
#include "tools/base/memory.h"
#include "tools/base/table.h"
#include "tools/log/parsed_dump.h"

enum module_state {
	MODULE_UNREAD,     /* the symbolizer has not come to it */
	MODULE_VERIFIED,   /* its file was found by its build-id */
	MODULE_UNVERIFIED, /* a file was taken though the dump has no build-id to compare */
	MODULE_MISMATCH,   /* the file that was found is another build: left raw */
	MODULE_MISSING,    /* no file: left raw */
};

struct module {
	const char *path;
	const char *name;     /* last component of PATH */
	const char *build_id; /* hexadecimal, or NULL */
	bool main;            /* the program itself */
	struct location *locations;
	size_t location_count;
	enum module_state state;
	const char *file; /* with the symbols, or another build (MODULE_MISMATCH), or NULL */
};

/* A function at an address.  An address in inlined code has several, innermost first. */
struct frame {
	const char *function; /* demangled, or NULL */
	const char *file;     /* of the source, or NULL */
	unsigned line;        /* 0 when not known */
	bool inlined;         /* into the frame that follows */
};

/* The place of a return address, or of an instruction (EXACT). */
struct location {
	const struct module *module; /* NULL when the address lies in none */
	bool exact;                  /* the address of an instruction, not a return address */
	uint64_t offset;             /* address less load bias; the address if there is no module */
	const char *own_function;    /* as the dump names it, mangled, or NULL */
	struct frame *frames;        /* not NULL after symbolize */
	unsigned frame_count;        /* at least 1 after symbolize */
	enum leakwrap_system_role role; /* LEAKWRAP_ROLE_PROGRAM if OWN_FUNCTION is there */
	const char *object;             /* source file or archive member of its code, or NULL */
	struct location *next;          /* of the same module */
	unsigned number;                /* from 0 in the order of appearance */
};

struct stack {
	unsigned depth;
	unsigned number; /* from 0 in the order of appearance */
	unsigned asked;  /* the frame that asked for the memory (askers.h); inlined frames count */
	unsigned suppressed;         /* a set of kinds; KINDS_ALL: all its memory (suppress.h) */
	const char *origin;          /* "program", "system_library", or the library's path */
	const struct location *at[]; /* innermost first */
};

struct mapping {
	const struct module *module;
	uint64_t start, end; /* 0: its line was lost */
	uint64_t bias;
};

struct site {
	const struct stack *stack;
	/* The raw addresses if a module lies at several places in the dump, otherwise NULL. */
	const uint64_t *addresses;
	uint64_t bytes, blocks;
	uint64_t rank; /* as in the dump */
	enum stack_kind kind;
	bool is_cut;                        /* truncated at the option depth= */
	bool lacks_frames;                  /* in the log, or may: its call site is not known */
	const char *task;                   /* the task that allocated, or NULL */
	struct reach_sums reach;            /* of the kinds that its dump shows */
	const struct reach_sums *all_kinds; /* before keep_kinds; NULL: REACH */
	enum origin origin;
	const struct module
	        *library; /* whose code allocated, if ORIGIN is ORIGIN_LIBRARY; or NULL */
	struct estimate estimate;
	unsigned processes;          /* of a merged dump: how many have it */
	const struct spread *spread; /* of a merged dump: how it spreads (merge.h) */
};

/* What a program died of, and where.  STACK is not among the stacks of the report. */
struct crash {
	struct fault fault;
	const struct stack *stack;
};

/* What a program did wrong with its heap.  The stacks are not among those of the report. */
struct misused {
	struct misuse misuse;
	struct stack *stacks[MISUSE_STACKS]; /* NULL: there is none of the kind */
};

/* A call site where an allocation was made to fail, or that was reached (parsed_failure). */
struct failure {
	const struct stack *stack; /* among the stacks of the report */
	bool only_reached, of_system;
	uint64_t identity, hits, bytes;
};

struct dump {
	unsigned long pid, sequence;
	const char *reason, *time, *program; /* NULL when not known */
	const char **command;                /* the words of the command line */
	size_t command_count;                /* 0: not known */
	int64_t seconds;                     /* TIME since 1970, -1 when not known */
	int64_t uptime;                      /* of the machine, in seconds; 0: not known */
	struct totals totals;
	uint64_t injected_failures; /* how many allocations were made to fail */
	struct failure *failures;
	size_t failure_count;
	struct site *sites;
	struct mapping *mappings;
	const char **notes;
	const char *coverage; /* "process" or "program", or NULL: not known */
	struct bypass *bypasses;
	size_t bypass_count;
	const struct crash *crash;       /* or NULL */
	struct misused *misuse;          /* or NULL; a dump of misuse has no live blocks */
	const struct block_list *blocks; /* or NULL: none are listed, or the report keeps none */
	size_t site_count, mapping_count, mapping_room, note_count;
	const char *log;
	unsigned long line;
	const char *damage; /* or NULL */
	unsigned long damage_line;
	const struct dump *previous; /* of the report with the same pid, or NULL */
	unsigned process;            /* from 0: which of the processes of the report */
	bool last;                   /* of its process */
	bool chosen;                 /* named as LOG@N, LOG@PID:N or LOG@PID:N:K */
	const struct merged *merged; /* what it adds up (merge.h); NULL: it is a dump of a log */
	unsigned left_out;           /* whose blocks the totals leave out, bits by enum origin */
	uint64_t suppressed_bytes, suppressed_blocks;
	size_t suppressed_sites; /* those with suppressed blocks; others of their blocks may stay */
	struct reach_sums suppressed_reach;
	unsigned kinds; /* the set of kinds (kinds.h) that its numbers count; 0: all */
	const struct reach_sums *all_kinds; /* of the totals, before keep_kinds; NULL: theirs */
};

struct report {
	struct arena arena;
	struct arena *dump_arena; /* for what only one dump has; ARENA unless dumps go earlier */
	bool keeps_blocks;        /* set by the caller: dumps keep the blocks that they list */
	struct strings strings;
	/* Dumps of the process whose dump is being copied, in order.  NULL: DUMPS have them. */
	const struct dump *const *earlier;
	size_t earlier_count;
	struct dump **dumps;       /* in the order of their ends */
	const struct dump *latest; /* of the last report_add; the log may have been read before */
	bool has_several;          /* the last report_add named more dumps of live blocks */
	bool lacks_dumps;          /* the log of the last report_add or report_read holds no dump */
	size_t dump_count, dump_room;
	const struct dump **misuses; /* dumps of misuse alone, which are not among DUMPS */
	size_t misuse_count, misuse_room;
	struct module **modules;
	size_t module_count, module_room;
	struct location **locations;
	size_t location_count, location_room;
	struct stack **stacks;
	size_t stack_count, stack_room;
	unsigned process_count;
	size_t duplicates; /* dumps that came twice */
	struct table module_table, location_table, stack_table, dump_table, pid_table;
};

/* Makes REPORT empty. */
void report_start(struct report *report);

/* Frees all that REPORT points to. */
void report_free(struct report *report);

/* Returns the raw address of LOCATION in DUMP.  If the module lies at several places, the first one
 * counts. */
uint64_t raw_address(const struct dump *dump, const struct location *location);

/* Returns the first place of MODULE in DUMP, or NULL. */
const struct mapping *mapping_of(const struct dump *dump, const struct module *module);

#endif
