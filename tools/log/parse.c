/* parse.c - see parse.h.
 *
 * A process has at most one open dump.  A dump ends with its end line, with the first line of the
 * process's next dump, or with the log.
 */
#include "tools/log/parse.h"

#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"
#include "tools/log/draft_lines.h"

struct open_dump {
	struct draft draft;
	struct process *process;
	/* In the order of their starts.  LATER of a free one is the next free one. */
	struct open_dump *earlier, *later;
};

struct process {
	unsigned long pid;
	struct open_dump *open; /* or NULL */
	unsigned long ended;    /* the last dump that has ended */
	uint64_t last_line;     /* hash of its last line */
	bool is_doubled;        /* the last line came again */
	bool was_doubled;       /* the line before the last came again */
	bool strays_noted;      /* lines of it came too late, and a message said so */
};

struct parser {
	const char *log;
	unsigned long line;
	dump_taker *take;
	void *context;
	struct table processes;
	struct open_dump *earliest, *latest; /* the open dumps, by their start */
	unsigned open_count;
	struct open_dump *free; /* for reuse */
	struct arena arena;     /* the processes */
};

/* More dumps are never open at once, unless their ends were lost. */
enum { OPEN_MAX = 4096 };

/* -- dumps ------------------------------------------------------------------------------------- */

/* Gives OPEN to the taker. */
static void finish_dump(struct parser *parser, struct open_dump *open)
{
	struct process *process = open->process;
	const struct parsed_dump *dump = &open->draft.dump;

	process->open = NULL;
	process->ended = dump->sequence;
	process->strays_noted = dump->damage != NULL;
	*(open->earlier ? &open->earlier->later : &parser->earliest) = open->later;
	*(open->later ? &open->later->earlier : &parser->latest) = open->earlier;
	parser->open_count--;

	parser->take(parser->context, dump);
	open->later = parser->free;
	parser->free = open;
}

/* Gives OPEN to the taker, although its end has not come.  WHY is what the user reads. */
static void give_up(struct parser *parser, struct open_dump *open, const char *why)
{
	open->draft.line = parser->line;
	draft_note_loss(&open->draft, why);
	finish_dump(parser, open);
}

static struct open_dump *start_dump(struct parser *parser, struct process *process,
                                    unsigned long sequence)
{
	if (parser->open_count == OPEN_MAX)
		give_up(parser, parser->earliest, "it has no end: too many other dumps start");

	struct open_dump *open = parser->free;
	if (open)
		parser->free = open->later;
	else
		open = xzalloc(sizeof *open);
	open->process = process;
	process->open = open;
	open->earlier = parser->latest;
	open->later = NULL;
	*(parser->latest ? &parser->latest->later : &parser->earliest) = open;
	parser->latest = open;
	parser->open_count++;

	open->draft.log = parser->log;
	open->draft.line = parser->line;
	draft_start(&open->draft, process->pid, sequence);
	return open;
}

/* -- lines ------------------------------------------------------------------------------------- */

static bool same_pid(const void *key, const void *entry)
{
	return *(const unsigned long *)key == ((const struct process *)entry)->pid;
}

static struct process *process_of(struct parser *parser, unsigned long pid)
{
	uint64_t hash = hash_word(0, pid);
	struct process *process = table_find(&parser->processes, hash, &pid, same_pid);
	if (!process) {
		process = arena_alloc(&parser->arena, sizeof *process);
		process->pid = pid;
		table_add(&parser->processes, hash, process);
	}
	return process;
}

/* Returns the open dump of PROCESS with the number SEQUENCE, to which a line belongs.  HEAD: it is
 * a first line.  Returns NULL if the line comes too late. */
static struct open_dump *dump_of(struct parser *parser, struct process *process,
                                 unsigned long sequence, bool head)
{
	struct open_dump *open = process->open;

	if (open && open->draft.dump.sequence == sequence && !(head && open->draft.has_head))
		return open;
	if (!head && !open && process->ended == sequence) {
		if (!process->strays_noted)
			complain("%s:%lu: lines of dump %lu.%lu come after its end", parser->log,
			         parser->line, process->pid, sequence);
		process->strays_noted = true;
		return NULL;
	}
	if (open)
		give_up(parser, open, "it has no end: the next dump starts here");
	open = start_dump(parser, process, sequence);
	if (!head)
		draft_note_damage(&open->draft, "its first line is missing");
	return open;
}

/* Reads a line of dump SEQUENCE of process PID.  C is what follows the prefix of the line. */
static void dump_line(struct parser *parser, unsigned long pid, unsigned long sequence,
                      struct cursor c, bool whole)
{
	struct process *process = process_of(parser, pid);
	uint64_t hash = hash_bytes(sequence, c.at, (size_t)(c.end - c.at));

	/* A console and a system log in one file have every line twice.  A dump may have a note
	 * twice: then the line before the note is there once. */
	if (hash == process->last_line &&
	    (!starts_with(&c, "note ") || (process->was_doubled && !process->is_doubled))) {
		process->is_doubled = true;
		return;
	}
	process->was_doubled = process->is_doubled;
	process->is_doubled = false;
	process->last_line = hash;

	struct open_dump *open = dump_of(parser, process, sequence, starts_with(&c, "dump "));
	if (!open)
		return;
	open->draft.line = parser->line;
	if (draft_read(&open->draft, c, whole))
		finish_dump(parser, open);
}

/* Finds the next "leakwrap[PID.N] " in C.  *START is its first byte, and C becomes what follows it.
 * Returns false if there is none. */
static bool find_prefix(struct cursor *c, const char **start, unsigned long *pid,
                        unsigned long *sequence)
{
	const size_t length = sizeof LEAKWRAP_LINE_PREFIX - 1;
	const char *from = c->at;
	while (c->at < c->end) {
		/* Few bytes of a line are brackets, so this is faster than memmem. */
		const char *bracket = memchr(c->at, '[', (size_t)(c->end - c->at));
		if (!bracket)
			return false;
		c->at = bracket + 1;
		const char *found = c->at - length;
		if ((size_t)(c->at - from) < length ||
		    memcmp(found, LEAKWRAP_LINE_PREFIX, length) != 0)
			continue;
		struct cursor rest = *c;
		uint64_t p, n;
		if (scan_decimal(&rest, &p) && skip_text(&rest, ".") && scan_decimal(&rest, &n) &&
		    skip_text(&rest, "] ") && (unsigned long)p == p && (unsigned long)n == n) {
			*start = found;
			*pid = (unsigned long)p;
			*sequence = (unsigned long)n;
			*c = rest;
			return true;
		}
	}
	return false;
}

/* Returns the first control character from AT on, or END.  The format has none: a carriage return,
 * or a sequence for the terminal, ends a line. */
static const char *find_control(const char *at, const char *end)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	uint64_t word;
	/* Of eight bytes at once: the top bit of a byte is set by the borrow if the byte is less
	 * than a space.  A borrow from a lower byte only leads to a closer look. */
	for (; (size_t)(end - at) >= sizeof word; at += sizeof word) {
		memcpy(&word, at, sizeof word);
		if ((word - ones * ' ') & ~word & tops)
			break;
	}
	while (at < end && (unsigned char)*at >= ' ')
		at++;
	return at;
}

struct parser *parser_start(const char *log, dump_taker *take, void *context)
{
	struct parser *parser = xzalloc(sizeof *parser);
	parser->log = log;
	parser->take = take;
	parser->context = context;
	return parser;
}

void parser_line(struct parser *parser, const char *line, size_t length, bool whole)
{
	struct cursor c = {line, line + length};
	const char *start;
	unsigned long pid, sequence;

	parser->line++;
	if (!find_prefix(&c, &start, &pid, &sequence))
		return;
	c.end = find_control(c.at, c.end);
	while (c.end > c.at && c.end[-1] == ' ')
		c.end--;

	/* A second prefix shows that the first line was cut.  Only a note may contain a prefix
	 * itself. */
	struct cursor next = c;
	unsigned long next_pid, next_sequence;
	while (c.end - c.at < 5 || memcmp(c.at, "note ", 5) != 0) {
		if (!find_prefix(&next, &start, &next_pid, &next_sequence))
			break;
		dump_line(parser, pid, sequence, (struct cursor){c.at, start}, false);
		pid = next_pid;
		sequence = next_sequence;
		c = next;
	}
	dump_line(parser, pid, sequence, c, whole);
}

void parser_end(struct parser *parser)
{
	struct open_dump *later;

	for (struct open_dump *open = parser->earliest; open; open = later) {
		later = open->later;
		give_up(parser, open, "it has no end: the log ends before it");
	}
	for (struct open_dump *open = parser->free; open; open = later) {
		later = open->later;
		draft_free(&open->draft);
		free(open);
	}
	table_free(&parser->processes);
	arena_free(&parser->arena);
	free(parser);
}
