/* parsed_dump.h - what one dump says, with the names of its format (report/format.h).
 *
 * All text is the parser's, and is gone when the dump_taker returns.
 */
#ifndef TOOLS_LOG_PARSED_DUMP_H
#define TOOLS_LOG_PARSED_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stack_kind {
	STACK_COMPLETE,
	STACK_TRUNCATED,
	STACK_GUESSED,
};

/* "complete", "truncated" or "guessed". */
extern const char *const stack_kind_names[3];

/* On whose behalf a call site allocated. */
enum origin {
	ORIGIN_PROGRAM,
	ORIGIN_LIBRARY, /* a shared library, but none of the system's */
	ORIGIN_SYSTEM,  /* the C or C++ library, or the loader */
};

/* "program", "library" or "system_library". */
extern const char *const origin_names[3];

/* A module whose allocations pass the tracer by. */
struct bypass {
	const char *reason; /* "bound", "libc_name", "other_name" or "namespace" */
	const char *path;   /* of the module, or NULL: not known */
};

/* The kinds of live blocks: whether pointers lead to them. */
enum reach {
	REACH_DEFINITE,
	REACH_INDIRECT, /* what definitely lost blocks lead to, counted at these */
	REACH_POSSIBLE,
	REACH_REACHABLE,
	REACHES,
	REACH_WITHIN = REACHES, /* of a call site's own blocks those that are indirectly lost */
	REACH_NUMBERS,
};

/* "definite" and so on, as in the dump. */
extern const char *const reach_names[REACH_NUMBERS];

/* Bytes and blocks by kind.  If IS_KNOWN is false, the dump does not tell, and all are 0. */
struct reach_sums {
	bool is_known;
	uint64_t bytes[REACH_NUMBERS], blocks[REACH_NUMBERS];
};

/* What a dump may say beside the live bytes and blocks.  -1: it does not. */
struct estimate {
	int64_t sampled_blocks;                    /* blocks that were observed */
	int64_t live_bytes_error;                  /* the standard error of the live bytes */
	int64_t allocated_bytes, allocated_blocks; /* so far, with what was freed again */
	int64_t temporary_blocks;        /* of these: freed before their thread allocated again */
	int64_t peak_bytes, peak_blocks; /* when most bytes were live */
	int64_t since_mark_bytes, since_mark_blocks; /* live, and allocated since the mark */
};

#define NO_ESTIMATE ((struct estimate){-1, -1, -1, -1, -1, -1, -1, -1, -1})

/* The numbers of a dump, with the names of the format.  -1: the dump does not have it. */
struct totals {
	int64_t live_bytes, live_blocks, call_sites;
	int64_t untracked_blocks, untracked_bytes, lost_call_sites;
	int64_t truncated_blocks, guessed_blocks, freed_elsewhere_blocks, foreign_frees;
	int64_t left_out_blocks, left_out_bytes; /* only with the option system=0 */
	int64_t tracer_bytes, dump_ns;
	int64_t inherited_bytes, inherited_blocks;  /* of a forked child: from before the fork */
	int64_t pause_ns, scan_ns, running_threads; /* only with kinds */
	int64_t sample_interval;                    /* bytes; -1: all blocks were recorded */
	struct estimate estimate;
	double complete_percent;
	const char *inherited; /* "included" in the other numbers, "left_out", or NULL: not known */
	const char *scanned;   /* "copy", "in_place", or NULL: not known */
	const char *heap;      /* "known", "part", or NULL: not known */
	/* What is recorded: "off", "sample" or "all", and since when, in RFC 3339.  NULL: all
	 * blocks were recorded all the time.  Of a sum also "mixed", and the last time. */
	const char *recording, *recording_since;
	const char *peak_time, *mark_time; /* in RFC 3339, or NULL */
	struct reach_sums reach;
	int64_t depth;        /* deeper stacks are cut at this number of frames */
	bool may_lack_blocks; /* recording may have been off at some time */
};

/* A key of the dump whose value is a count. */
struct count_key {
	const char *name;
	size_t offset; /* of the int64_t in its structure */
};

/* The keys of the lines total, stacks, loss, tracer and end, in struct totals. */
enum { TOTAL_KEYS = 21 };
extern const struct count_key total_keys[TOTAL_KEYS];

/* Sets TOTALS to those of a dump that does not have any of them. */
void reset_totals(struct totals *totals);

struct parsed_frame {
	uint64_t address;     /* raw */
	uint64_t offset;      /* ADDRESS less the load bias, or ADDRESS without a module */
	const char *function; /* by the symbol table of the program, or NULL */
	const char *name;     /* of the module, or NULL */
	unsigned module;      /* its number, or 0 */
	bool exact;           /* ADDRESS is that of an instruction, not a return address */
};

/* The bytes of all call sites of a dump, and those that their lost blocks lead to, add up to at
 * most INT64_MAX; so do their blocks. */
struct parsed_site {
	uint64_t rank, bytes, blocks;
	enum stack_kind kind;
	bool lacks_frames; /* lines with frames of it are lost, or may be */
	const char *task;  /* the task that allocated, or NULL */
	enum origin origin;
	unsigned origin_module; /* the number of the library, or 0 */
	struct reach_sums reach;
	struct estimate estimate;
	size_t first, depth; /* in parsed_dump.frames */
};

struct parsed_module {
	unsigned number;
	uint64_t start, end, bias;
	const char *build_id; /* lower-case hexadecimal, or NULL */
	const char *path;
};

struct machine_register {
	const char *name; /* as in the ABI */
	uint64_t value;
};

/* What a program died of, and the registers in the order of the dump. */
struct fault {
	bool told;             /* SIGNAL and CODE are known */
	bool addressed;        /* FAULT_ADDRESS is known */
	const char *exception; /* the processor's name for it, or NULL */
	unsigned signal;
	int64_t code; /* si_code (sigaction(2)) */
	uint64_t fault_address;
	uint64_t thread;  /* 0: not known */
	const char *task; /* the name of the running task of an RTOS, or NULL */
	struct machine_register *registers;
	size_t register_count;
};

/* The backtraces of misuse, in the order of the dump. */
enum misuse_stack {
	MISUSE_OFFENDER, /* the wrong release */
	MISUSE_RELEASE,  /* of a double free, the release before it */
	MISUSE_BLOCK,    /* the allocation of the block */
	MISUSE_STACKS,
};

/* What a program did wrong with its heap. */
struct misuse {
	const char *what;     /* "double_free" and so on, or NULL: not known */
	const char *function; /* the function that released, or NULL */
	const char *maker;    /* the function that allocated, or NULL */
	uint64_t pointer;
	uint64_t thread;         /* 0: not known */
	uint64_t address, bytes; /* of the block */
	bool has[MISUSE_STACKS];
};

struct parsed_frames {
	size_t first, depth; /* in parsed_dump.frames */
};

/* A call site where an allocation was made to fail; or, with the option fail=list, a call site that
 * the program has allocated from. */
struct parsed_failure {
	bool only_reached; /* nothing failed there */
	uint64_t identity; /* the same in each run (report/site_identity.h) */
	uint64_t hits;     /* the allocations there; of a failure, which of them failed */
	uint64_t bytes;    /* of the largest; of a failure, what was asked for */
	bool of_system;    /* a system library made the allocation itself */
	struct parsed_frames frames;
};

/* A range of the process's memory. */
struct memory_range {
	uint64_t start, end;
};

/* The stack of a task without an operating system.  What lies below SP is of the past. */
struct listed_stack {
	uint64_t low, high, sp;
};

/* A live block, of a dump that lists them. */
struct listed_block {
	uint64_t address, size;
	uint64_t rank; /* of its call site, which the dump may not show; 0: it is left out */
	bool is_ignored;
};

/* All live blocks of a dump, and what it says of the memory around them (report/format.h). */
struct block_list {
	bool is_listed; /* false: the dump lists no blocks, and the rest is 0 */
	bool is_heap_known, is_glibc, has_jemalloc;
	bool are_roots_listed;            /* nothing is a root but ROOTS, less OWN, and STACKS */
	uint64_t thread_pointer;          /* of the thread that wrote the dump; 0: not known */
	struct memory_range thread_state; /* the tracer's state of that thread */
	/* In bytes below the end of the mapping of a thread's stack: the thread pointer, and two
	 * words with the mapping's start and size; then the size of most mappings.  All 0: not
	 * known. */
	struct {
		uint64_t thread_pointer, bounds, size;
	} stack_layout;
	uint64_t pointer_step;            /* bytes between two places for a pointer; 0: a word */
	struct memory_range *own, *roots; /* the tracer's memory; the program's choice of roots */
	struct listed_stack *stacks;
	struct listed_block *blocks;
	size_t own_count, root_count, stack_count, count;
};

struct parsed_dump {
	unsigned long pid, sequence;
	const char *reason, *time, *program; /* NULL when the first line is missing */
	int64_t uptime;                      /* of the machine, in seconds; 0: not known */
	const char **command;                /* the words of the command line; none: not known */
	bool crashed;                        /* CRASH holds something, or should */
	struct fault fault;
	size_t crash_depth; /* its frames are the first of FRAMES */
	bool misused;       /* MISUSE holds something, or should; there are no live blocks */
	struct misuse misuse;
	struct parsed_frames misuse_frames[MISUSE_STACKS];
	struct totals totals;
	uint64_t injected_failures; /* how many allocations were made to fail */
	struct parsed_failure *failures;
	size_t failure_count;
	struct block_list blocks;
	struct parsed_site *sites;
	struct parsed_frame *frames;
	struct parsed_module *modules;
	const char **notes;
	const char *coverage; /* "process" or "program", or NULL: not known */
	struct bypass *bypasses;
	size_t bypass_count;
	size_t site_count, frame_count, module_count, note_count, command_count;

	const char *log;    /* the name of the log */
	unsigned long line; /* where the dump starts */

	/* What is wrong with a dump that is not whole, and the line that shows it; otherwise NULL.
	 * The lines behind the damage are read too. */
	const char *damage;
	unsigned long damage_line;
};

/* Takes DUMP.  It and all that it points to is gone afterwards. */
typedef void dump_taker(void *context, const struct parsed_dump *dump);

#endif
