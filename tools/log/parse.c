/* parse.c - see parse.h.
 *
 * A process has at most one dump open.  A dump ends with its end line, with the first line of the same
 * process's next dump, or with the log.  Whatever does not fit is noted once per dump, with its line
 * number, and skipped; all else of the dump is kept.
 */
#include "tools/log/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/format.h"
#include "tools/log/scan.h"

const char *const stack_kind_names[3] = {"complete", "truncated", "guessed"};

struct open_dump {
	struct parsed_dump dump; /* first, so that it is what the taker gets */
	struct arena arena;      /* its strings */
	size_t site_room, frame_room, module_room, note_room, register_room, command_room;
	unsigned long lines; /* seen so far */
	uint64_t site_bytes, site_blocks; /* of all call sites so far, at most INT64_MAX */
	bool headed;         /* the dump line has come */
	bool skipped;        /* of a version that is not known */
	bool in_crash;       /* registers and frames are those of the crash */
	bool stack_broken;   /* a frame of the current stack is missing: no more for this stack */
	struct parsed_frames *in_misuse; /* frames are these of the misuse, or NULL */
	struct process *process;
	struct open_dump *earlier, *later; /* of the open dumps, by their start; LATER also of free ones */
};

struct process {
	unsigned long pid;
	struct open_dump *open; /* or NULL */
	unsigned long ended;    /* the last dump that has ended */
	uint64_t last_line;     /* hash of its last line, to notice one that came twice */
	bool strays_noted;      /* lines of it came later, and that has been said */
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
	struct arena arena;     /* of the processes */
};

/* More dumps are never open at once, unless their ends were lost. */
enum { OPEN_MAX = 4096 };

/* -- dumps --------------------------------------------------------------------------------------- */

static void note_damage(struct parser *parser, struct open_dump *open, const char *what)
{
	if (open->dump.damage)
		return;
	open->dump.damage = what;
	open->dump.damage_line = parser->line;
}

static void finish_dump(struct parser *parser, struct process *process)
{
	struct open_dump *open = process->open;
	process->open = NULL;
	process->ended = open->dump.sequence;
	process->strays_noted = open->dump.damage != NULL;
	*(open->earlier ? &open->earlier->later : &parser->earliest) = open->later;
	*(open->later ? &open->later->earlier : &parser->latest) = open->earlier;
	parser->open_count--;

	parser->take(parser->context, &open->dump);
	arena_reset(&open->arena);
	open->later = parser->free;
	parser->free = open;
}

static void start_dump(struct parser *parser, struct process *process, unsigned long sequence)
{
	if (parser->open_count == OPEN_MAX) {
		note_damage(parser, parser->earliest, "it has no end: too many other dumps start");
		finish_dump(parser, parser->earliest->process);
	}
	struct open_dump *open = parser->free;
	if (open)
		parser->free = open->later;
	else
		open = xzalloc(sizeof *open);

	struct parsed_dump *dump = &open->dump;
	*dump = (struct parsed_dump){
	        .pid = process->pid,
	        .sequence = sequence,
	        .sites = dump->sites,
	        .frames = dump->frames,
	        .modules = dump->modules,
	        .notes = dump->notes,
	        .command = dump->command,
	        .fault = {.registers = dump->fault.registers},
	        .log = parser->log,
	        .line = parser->line,
	        .totals = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1.0, NULL},
	};
	open->lines = 0;
	open->site_bytes = open->site_blocks = 0;
	open->headed = open->skipped = open->in_crash = open->stack_broken = false;
	open->in_misuse = NULL;
	open->process = process;
	open->earlier = parser->latest;
	open->later = NULL;
	*(parser->latest ? &parser->latest->later : &parser->earliest) = open;
	parser->latest = open;
	parser->open_count++;
	process->open = open;
}

/* -- the lines of a dump ------------------------------------------------------------------------- */

struct key {
	const char *name;
	size_t count; /* offset in struct totals */
};

#define COUNT(field)                                   \
	{                                              \
#field, offsetof(struct totals, field) \
	}

/* Every key of the total, stacks, loss, tracer and end lines whose value is a count. */
static const struct key keys[] = {
        COUNT(live_bytes),       COUNT(live_blocks),     COUNT(call_sites),
        COUNT(untracked_blocks), COUNT(untracked_bytes), COUNT(lost_call_sites),
        COUNT(truncated_blocks), COUNT(guessed_blocks),  COUNT(freed_elsewhere_blocks),
        COUNT(foreign_frees),    COUNT(tracer_bytes),    COUNT(dump_ns),
        COUNT(left_out_blocks),  COUNT(left_out_bytes),  COUNT(inherited_bytes),
        COUNT(inherited_blocks),
};

static bool scan_percent(const struct cursor *value, double *percent)
{
	char digits[32];
	size_t length = (size_t)(value->end - value->at);
	if (word_is(value, "none"))
		return true;
	if (length == 0 || length >= sizeof digits)
		return false;
	memcpy(digits, value->at, length);
	digits[length] = '\0';
	if (strspn(digits, "0123456789.") != length)
		return false;
	char *end;
	double number = strtod(digits, &end);
	if (*end != '\0' || number > 100)
		return false;
	*percent = number;
	return true;
}

static void read_totals(struct parser *parser, struct open_dump *open, struct cursor c)
{
	for (struct cursor word; next_word(&c, &word);) {
		const char *equals = memchr(word.at, '=', (size_t)(word.end - word.at));
		if (!equals)
			continue;
		struct cursor name = {word.at, equals}, value = {equals + 1, word.end};
		if (word_is(&name, "complete_stack_bytes_percent")) {
			if (!scan_percent(&value, &open->dump.totals.complete_percent))
				note_damage(parser, open, "a number is damaged");
			continue;
		}
		if (word_is(&name, "inherited"))
			open->dump.totals.inherited = word_is(&value, "left_out")   ? "left_out"
			                              : word_is(&value, "included") ? "included"
			                                                            : NULL;
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
			if (!word_is(&name, keys[i].name))
				continue;
			int64_t count;
			if (scan_count(&value, &count) && at_end(&value))
				*(int64_t *)((char *)&open->dump.totals + keys[i].count) = count;
			else
				note_damage(parser, open, "a number is damaged");
		}
	}
}

static const char *known_reason(const struct cursor *word)
{
	static const char *const reasons[] = {"exit", "signal", "api", "crash", "misuse"};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (word_is(word, reasons[i]))
			return reasons[i];
	return NULL;
}

static void read_head(struct parser *parser, struct open_dump *open, struct cursor c)
{
	struct parsed_dump *dump = &open->dump;
	unsigned version = 0;

	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "program=")) {
			word.end = c.end; /* the rest of the line */
			dump->program = unescape(&open->arena, &word);
			break;
		}
		if (skip_text(&word, "version=")) {
			if (!scan_small(&word, &version) || !at_end(&word))
				version = 0;
		} else if (skip_text(&word, "reason=")) {
			dump->reason = known_reason(&word);
		} else if (skip_text(&word, "time=")) {
			int64_t seconds;
			const char *text = unescape(&open->arena, &word);
			dump->time = parse_time(text, &seconds) ? text : NULL;
		}
	}
	open->headed = true;
	if (dump->reason && strcmp(dump->reason, "crash") == 0)
		open->in_crash = dump->crashed = true;
	if (dump->reason && strcmp(dump->reason, "misuse") == 0)
		dump->misused = true;
	if (version != LEAKWRAP_FORMAT_VERSION) {
		open->skipped = version != 0;
		if (open->skipped)
			dump->program = NULL; /* nothing of it is understood */
		note_damage(
		        parser, open,
		        version ? "its format version is not known to this tool; the dump is skipped"
		                : "its first line is damaged");
	} else if (!dump->program || !dump->reason || !dump->time) {
		note_damage(parser, open, "its first line is damaged");
	}
}

/* "/opt/app/server --port 8080" */
static void read_command(struct open_dump *open, struct cursor c)
{
	struct parsed_dump *dump = &open->dump;

	dump->command_count = 0; /* a line that came twice */
	for (struct cursor word; next_word(&c, &word);) {
		GROW(dump->command, open->command_room, dump->command_count + 1);
		dump->command[dump->command_count++] = unescape(&open->arena, &word);
	}
}

/* May what follows be of the crash?  Its lines stand before all call sites. */
static bool enter_crash(struct parser *parser, struct open_dump *open)
{
	if (open->dump.site_count > 0) {
		note_damage(parser, open, "a line of the crash is out of order");
		return false;
	}
	open->in_crash = open->dump.crashed = true;
	return true;
}

static bool scan_code(struct cursor *c, int64_t *code)
{
	bool negative = skip_text(c, "-");
	unsigned number;
	if (!scan_small(c, &number))
		return false;
	*code = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* A name of the processor's. */
static bool is_plain_name(const struct cursor *word)
{
	for (const char *p = word->at; p < word->end; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return !at_end(word);
}

/* "signal=11 code=1 fault_address=0x0 thread=4712" */
static void read_crash(struct parser *parser, struct open_dump *open, struct cursor c)
{
	struct fault *fault = &open->dump.fault;
	bool signal = false, code = false, whole = true;
	uint64_t thread;

	if (!enter_crash(parser, open))
		return;
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "signal="))
			whole &= signal = scan_small(&word, &fault->signal) && at_end(&word);
		else if (skip_text(&word, "code="))
			whole &= code = scan_code(&word, &fault->code) && at_end(&word);
		else if (skip_text(&word, "exception=") && is_plain_name(&word))
			fault->exception = unescape(&open->arena, &word);
		else if (skip_text(&word, "fault_address="))
			whole &= fault->addressed =
			        scan_hex(&word, &fault->fault_address) && at_end(&word);
		else if (skip_text(&word, "thread=") && scan_decimal(&word, &thread) && at_end(&word))
			fault->thread = thread;
	}
	fault->told = signal && code;
	if (!fault->told || !whole || !fault->thread)
		note_damage(parser, open, "what it died of is damaged");
}

/* "rip=0x55d0c8a01230 rsp=0x7ffd2f10" */
static void read_registers(struct parser *parser, struct open_dump *open, struct cursor c)
{
	struct fault *fault = &open->dump.fault;

	if (!enter_crash(parser, open))
		return;
	for (struct cursor word; next_word(&c, &word);) {
		const char *equals = memchr(word.at, '=', (size_t)(word.end - word.at));
		struct cursor name = {word.at, equals ? equals : word.at};
		struct cursor value = {equals ? equals + 1 : word.end, word.end};
		struct machine_register one = {0};
		if (!is_plain_name(&name) || !scan_hex(&value, &one.value) || !at_end(&value)) {
			note_damage(parser, open, "a register is damaged");
			continue;
		}
		one.name = arena_copy(&open->arena, name.at, (size_t)(name.end - name.at));
		GROW(fault->registers, open->register_room, fault->register_count + 1);
		fault->registers[fault->register_count++] = one;
	}
}

/* "double_free pointer=0x55d0c9a012a0 thread=4712 function=free", "released", or
 * "block address=0x55d0c9a012a0 bytes=40 function=operator new" */
static void read_misuse(struct parser *parser, struct open_dump *open, struct cursor c)
{
	struct parsed_dump *dump = &open->dump;
	struct misuse *misuse = &dump->misuse;
	struct cursor what = scan_word(&c);
	enum misuse_stack stack = word_is(&what, "released") ? MISUSE_RELEASE
	                          : word_is(&what, "block")  ? MISUSE_BLOCK
	                                                     : MISUSE_OFFENDER;
	const char *function = NULL;
	bool number = false, whole = true;

	dump->misused = true;
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "function=")) {
			word.end = c.end; /* the rest of the line */
			function = unescape(&open->arena, &word);
			break;
		}
		if (skip_text(&word, "pointer="))
			number = scan_hex(&word, &misuse->pointer) && at_end(&word);
		else if (skip_text(&word, "address="))
			number = scan_hex(&word, &misuse->address) && at_end(&word);
		else if (skip_text(&word, "bytes="))
			whole &= scan_decimal(&word, &misuse->bytes) && at_end(&word);
		else if (skip_text(&word, "thread="))
			whole &= scan_decimal(&word, &misuse->thread) && at_end(&word);
	}
	open->in_misuse = NULL;
	open->stack_broken = true;
	if (misuse->has[stack] || !whole || (stack != MISUSE_RELEASE && !number) ||
	    (stack == MISUSE_OFFENDER && (!function || !is_plain_name(&what)))) {
		note_damage(parser, open, "what was misused is damaged");
		return;
	}
	if (stack == MISUSE_OFFENDER) {
		misuse->what = unescape(&open->arena, &what);
		misuse->function = function;
	} else if (stack == MISUSE_BLOCK) {
		misuse->maker = function;
	}
	misuse->has[stack] = true;
	open->stack_broken = false;
	open->in_misuse = &dump->misuse_frames[stack];
	open->in_misuse->first = dump->frame_count;
}

static bool scan_kind(const struct cursor *word, enum stack_kind *kind)
{
	for (unsigned i = 0; i < 3; i++) {
		if (word_is(word, stack_kind_names[i])) {
			*kind = (enum stack_kind)i;
			return true;
		}
	}
	return false;
}

/* "25 blocks", or "1 block". */
static bool scan_counted(struct cursor *c, const char *noun, uint64_t *number)
{
	if (!scan_decimal(c, number) || !skip_text(c, noun))
		return false;
	skip_text(c, "s");
	return true;
}

/* Of the last call site, whose frames cannot be trusted. */
static void drop_frames(struct parsed_dump *dump)
{
	struct parsed_site *site = &dump->sites[dump->site_count - 1];
	site->depth = 0;
	site->kind = STACK_TRUNCATED;
}

/* "1: 819200 bytes in 25 blocks, complete", and maybe " task=uart_rx" and
 * " origin=system_library". */
static void read_site(struct parser *parser, struct open_dump *open, struct cursor c)
{
	struct parsed_dump *dump = &open->dump;
	struct parsed_site site = {.first = dump->frame_count};
	bool broken = open->stack_broken;

	open->stack_broken = true;
	if (!scan_decimal(&c, &site.rank) || !skip_text(&c, ": ") ||
	    !scan_counted(&c, " byte", &site.bytes) || !skip_text(&c, " in ") ||
	    !scan_counted(&c, " block", &site.blocks) || !skip_text(&c, ", ")) {
		note_damage(parser, open, "a call site is damaged");
		return;
	}
	struct cursor word = scan_word(&c);
	if (!scan_kind(&word, &site.kind)) {
		note_damage(parser, open, "a call site is damaged");
		return;
	}
	if (site.bytes > (uint64_t)INT64_MAX - open->site_bytes ||
	    site.blocks > (uint64_t)INT64_MAX - open->site_blocks) {
		note_damage(parser, open, "its call sites hold more than there can be");
		return;
	}
	while (next_word(&c, &word)) {
		if (skip_text(&word, "task="))
			site.task = unescape(&open->arena, &word);
		else if (word_is(&word, "origin=system_library"))
			site.of_system = true;
	}
	uint64_t last = dump->site_count ? dump->sites[dump->site_count - 1].rank : 0;
	if (site.rank != last + 1) {
		note_damage(parser, open, "a call site is missing or out of order");
		/* Unless the first frame that did not fit was noticed, the frames since the last call site may
		 * be those of the one that is missing. */
		if (last && (!broken || site.rank <= last))
			drop_frames(dump);
	}
	GROW(dump->sites, open->site_room, dump->site_count + 1);
	dump->sites[dump->site_count++] = site;
	open->site_bytes += site.bytes;
	open->site_blocks += site.blocks;
	/* What follows a call site that comes too late is nobody's for sure. */
	open->stack_broken = site.rank <= last;
	if (open->stack_broken)
		drop_frames(dump);
}

/* What the damage left of the current stack is its innermost part. */
static void break_stack(struct parser *parser, struct open_dump *open, const char *what)
{
	struct parsed_dump *dump = &open->dump;
	note_damage(parser, open, what);
	if (!open->stack_broken && dump->site_count)
		dump->sites[dump->site_count - 1].kind = STACK_TRUNCATED;
	open->stack_broken = true;
}

/* "0 0x55d0c8a01234 load_config+0x24 [1] server+0x1234 exact=1" */
static bool scan_frame(struct open_dump *open, struct cursor c, uint64_t *number,
                       struct parsed_frame *frame)
{
	struct cursor name;

	*frame = (struct parsed_frame){0};
	if (!scan_decimal(&c, number) || !skip_text(&c, " ") || !scan_hex(&c, &frame->address) ||
	    !skip_text(&c, " "))
		return false;
	struct cursor word = scan_word(&c);
	if (!word_is(&word, "?")) {
		if (!split_offset(&word, &name, &frame->into))
			return false;
		frame->function = unescape(&open->arena, &name);
	}
	frame->offset = frame->address;
	if (skip_text(&c, " [")) {
		if (!scan_small(&c, &frame->module) || frame->module == 0 || !skip_text(&c, "] "))
			return false;
		word = scan_word(&c);
		if (!split_offset(&word, &name, &frame->offset))
			return false;
		frame->name = unescape(&open->arena, &name);
	}
	while (next_word(&c, &word)) {
		if (word_is(&word, "exact=1"))
			frame->exact = true;
		else if (!memchr(word.at, '=', (size_t)(word.end - word.at)))
			return false;
	}
	return true;
}

static void read_frame(struct parser *parser, struct open_dump *open, struct cursor c)
{
	struct parsed_dump *dump = &open->dump;
	uint64_t number;
	struct parsed_frame frame;

	if (!scan_frame(open, c, &number, &frame)) {
		break_stack(parser, open, "a frame is damaged");
		return;
	}
	if (open->stack_broken)
		return;
	size_t *depth = open->in_crash     ? &dump->crash_depth
	                : open->in_misuse  ? &open->in_misuse->depth
	                : dump->site_count ? &dump->sites[dump->site_count - 1].depth
	                                   : NULL;
	if (!depth || number != *depth) {
		break_stack(parser, open, "a frame is missing or out of order");
		return;
	}
	if (open->in_crash && number == 0)
		frame.exact = true;
	GROW(dump->frames, open->frame_room, dump->frame_count + 1);
	dump->frames[dump->frame_count++] = frame;
	++*depth;
}

static bool is_build_id(const struct cursor *word)
{
	if (word->at == word->end || (word->end - word->at) % 2 != 0)
		return false;
	for (const char *p = word->at; p < word->end; p++)
		if (hex_digit(*p) < 0)
			return false;
	return true;
}

/* "1 0x55d0c8a00000-0x55d0c8a08000 bias=0x55d0c8a00000 build_id=0a1b2c... path=/opt/app/server" */
static void read_module(struct parser *parser, struct open_dump *open, struct cursor c)
{
	struct parsed_dump *dump = &open->dump;
	struct parsed_module module = {0};
	bool biased = false;

	if (!scan_small(&c, &module.number) || !skip_text(&c, " ") || !scan_hex(&c, &module.start) ||
	    !skip_text(&c, "-") || !scan_hex(&c, &module.end) || module.end < module.start) {
		note_damage(parser, open, "a module is damaged");
		return;
	}
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "path=")) {
			word.end = c.end; /* the rest of the line */
			module.path = unescape(&open->arena, &word);
			break;
		}
		if (skip_text(&word, "bias=")) {
			biased = scan_hex(&word, &module.bias) && at_end(&word);
		} else if (skip_text(&word, "build_id=") && is_build_id(&word)) {
			char *id = arena_copy(&open->arena, word.at, (size_t)(word.end - word.at));
			for (char *p = id; *p; p++)
				*p = (char)tolower((unsigned char)*p);
			module.build_id = id;
		}
	}
	if (!module.path || !biased) {
		note_damage(parser, open, "a module is damaged");
		return;
	}
	GROW(dump->modules, open->module_room, dump->module_count + 1);
	dump->modules[dump->module_count++] = module;
}

static void read_note(struct open_dump *open, const struct cursor *c)
{
	struct parsed_dump *dump = &open->dump;
	GROW(dump->notes, open->note_room, dump->note_count + 1);
	dump->notes[dump->note_count++] = arena_copy(&open->arena, c->at, (size_t)(c->end - c->at));
}

/* "sites=57 lines=240 dump_ns=812345" */
static void read_end(struct parser *parser, struct open_dump *open, struct cursor c)
{
	struct cursor all = c;
	uint64_t sites = UINT64_MAX, lines = UINT64_MAX;

	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "sites=") && (!scan_decimal(&word, &sites) || !at_end(&word)))
			sites = UINT64_MAX;
		else if (skip_text(&word, "lines=") && (!scan_decimal(&word, &lines) || !at_end(&word)))
			lines = UINT64_MAX;
	}
	read_totals(parser, open, all);
	if (sites == UINT64_MAX || lines == UINT64_MAX)
		note_damage(parser, open, "its end is damaged");
	else if (lines > open->lines)
		note_damage(parser, open, "lines of it are missing");
	else if (lines < open->lines || sites != open->dump.site_count)
		note_damage(parser, open, "lines of it came twice or were changed");
}

/* -- lines --------------------------------------------------------------------------------------- */

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

/* The open dump that a line of PROCESS's dump SEQUENCE belongs to; NULL when the line comes too late. */
static struct open_dump *dump_of(struct parser *parser, struct process *process, unsigned long sequence,
                                 bool head)
{
	struct open_dump *open = process->open;

	if (open && open->dump.sequence == sequence && !(head && open->headed))
		return open;
	if (!head && !open && process->ended == sequence) {
		if (!process->strays_noted)
			complain("%s:%lu: lines of dump %lu.%lu come after its end", parser->log,
			         parser->line, process->pid, sequence);
		process->strays_noted = true;
		return NULL;
	}
	if (open) {
		note_damage(parser, open, "it has no end: the next dump starts here");
		finish_dump(parser, process);
	}
	start_dump(parser, process, sequence);
	if (!head)
		note_damage(parser, process->open, "its first line is missing");
	return process->open;
}

/* One line of a dump, behind its prefix. */
static void dump_line(struct parser *parser, unsigned long pid, unsigned long sequence, struct cursor c,
                      bool whole)
{
	struct process *process = process_of(parser, pid);
	uint64_t hash = hash_bytes(sequence, c.at, (size_t)(c.end - c.at));
	bool note = skip_text(&c, "note ");
	if (!note && hash == process->last_line)
		return; /* it came twice in a row: a console and a system log in one file */
	process->last_line = hash;

	bool head = !note && skip_text(&c, "dump ");
	struct open_dump *open = dump_of(parser, process, sequence, head);
	if (!open)
		return;
	open->lines++;

	bool end = !head && !note && skip_text(&c, "end ");
	if (!whole && !end) {
		/* The numbers tell whether it was a frame of the crash; elsewhere it may have been a call site. */
		if (open->in_crash)
			note_damage(parser, open, "a line of it is cut");
		else
			break_stack(parser, open, "a line of it is cut");
		return;
	}
	if (open->skipped) {
		if (end)
			finish_dump(parser, process);
	} else if (head) {
		read_head(parser, open, c);
	} else if (note) {
		read_note(open, &c);
	} else if (end) {
		read_end(parser, open, c);
		finish_dump(parser, process);
	} else if (skip_text(&c, "command ")) {
		read_command(open, c);
	} else if (skip_text(&c, "crash ")) {
		read_crash(parser, open, c);
	} else if (skip_text(&c, "misuse ")) {
		read_misuse(parser, open, c);
	} else if (skip_text(&c, "registers ")) {
		read_registers(parser, open, c);
	} else if (skip_text(&c, "  #")) {
		read_frame(parser, open, c);
	} else if (skip_text(&c, "site ")) {
		open->in_crash = false;
		read_site(parser, open, c);
	} else if (skip_text(&c, "module ")) {
		open->in_crash = false;
		read_module(parser, open, c);
	} else if (skip_text(&c, "total ") || skip_text(&c, "stacks ") || skip_text(&c, "loss ") ||
	           skip_text(&c, "tracer ")) {
		open->in_crash = false;
		read_totals(parser, open, c);
	}
}

/* Finds the next "leakwrap[PID.N] " from C on.  START is where it starts, C what follows it. */
static bool find_prefix(struct cursor *c, const char **start, unsigned long *pid,
                        unsigned long *sequence)
{
	const size_t length = sizeof LEAKWRAP_LINE_PREFIX - 1;
	while (c->at < c->end) {
		const char *found =
		        memmem(c->at, (size_t)(c->end - c->at), LEAKWRAP_LINE_PREFIX, length);
		if (!found)
			return false;
		c->at = found + length;
		struct cursor rest = *c;
		uint64_t p, n;
		if (scan_decimal(&rest, &p) && skip_text(&rest, ".") && scan_decimal(&rest, &n) &&
		    skip_text(&rest, "] ")) {
			*start = found;
			*pid = p;
			*sequence = n;
			*c = rest;
			return true;
		}
	}
	return false;
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
	/* The format has no control characters: a carriage return or a terminal's escape ends the line. */
	for (const char *p = c.at; p < c.end; p++)
		if ((unsigned char)*p < ' ')
			c.end = p;
	while (c.end > c.at && c.end[-1] == ' ')
		c.end--;

	/* A second prefix means that the first line was cut; only a note may speak of dumps. */
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
	while (parser->earliest) {
		note_damage(parser, parser->earliest, "it has no end: the log ends before it");
		finish_dump(parser, parser->earliest->process);
	}
	while (parser->free) {
		struct open_dump *open = parser->free;
		parser->free = open->later;
		free(open->dump.sites);
		free(open->dump.frames);
		free(open->dump.modules);
		free(open->dump.notes);
		free(open->dump.command);
		free(open->dump.fault.registers);
		arena_free(&open->arena);
		free(open);
	}
	table_free(&parser->processes);
	arena_free(&parser->arena);
	free(parser);
}

/* -- reading ------------------------------------------------------------------------------------- */

enum { READ_SIZE = 256 * 1024 };

bool parse_log(int fd, const char *log, dump_taker *take, void *context)
{
	struct parser *parser = parser_start(log, take, context);
	char *buffer = xmalloc(READ_SIZE);
	size_t filled = 0;
	ssize_t got;

	while ((got = read(fd, buffer + filled, READ_SIZE - filled)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		filled += (size_t)got;
		char *line = buffer, *end = buffer + filled, *newline;
		for (; (newline = memchr(line, '\n', (size_t)(end - line))) != NULL; line = newline + 1)
			parser_line(parser, line, (size_t)(newline - line), true);
		filled = (size_t)(end - line);
		/* No line of a dump is this long: of another program's line keep what a dump's may follow. */
		if (filled == READ_SIZE) {
			line = end - LEAKWRAP_LINE_MAX;
			filled = LEAKWRAP_LINE_MAX;
		}
		memmove(buffer, line, filled);
	}
	int error = errno;
	if (got == 0 && filled)
		parser_line(parser, buffer, filled, false);
	parser_end(parser);
	free(buffer);
	errno = error;
	return got == 0;
}
