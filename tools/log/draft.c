/* draft.c - see draft.h. */
#include "tools/log/draft.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "tools/log/scan_failure.h"

/* -- a draft ----------------------------------------------------------------------------------- */

void draft_start(struct draft *draft, unsigned long pid, unsigned long sequence)
{
	struct parsed_dump *dump = &draft->dump;
	*dump = (struct parsed_dump){
	        .pid = pid,
	        .sequence = sequence,
	        .sites = dump->sites,
	        .failures = dump->failures,
	        .frames = dump->frames,
	        .modules = dump->modules,
	        .notes = dump->notes,
	        .bypasses = dump->bypasses,
	        .command = dump->command,
	        .fault = {.registers = dump->fault.registers},
	        .log = draft->log,
	        .line = draft->line,
	        .totals = {-1,   -1,   -1,          -1,   -1,   -1,
	                   -1,   -1,   -1,          -1,   -1,   -1,
	                   -1,   -1,   -1,          -1,   -1,   -1,
	                   -1,   -1,   NO_ESTIMATE, -1.0, NULL, NULL,
	                   NULL, NULL, NULL,        NULL, NULL, {.is_known = false}},
	};
	arena_reset(&draft->arena);
	draft->lines = 0;
	draft->site_bytes = draft->site_blocks = 0;
	draft->has_head = draft->is_skipped = draft->in_crash = draft->is_stack_broken = false;
	draft->in_frames = NULL;
}

void draft_free(struct draft *draft)
{
	free(draft->dump.sites);
	free(draft->dump.failures);
	free(draft->dump.frames);
	free(draft->dump.modules);
	free(draft->dump.notes);
	free(draft->dump.bypasses);
	free(draft->dump.command);
	free(draft->dump.fault.registers);
	arena_free(&draft->arena);
}

void draft_note_damage(struct draft *draft, const char *what)
{
	if (draft->dump.damage)
		return;
	draft->dump.damage = what;
	draft->dump.damage_line = draft->line;
}

/* -- numbers ----------------------------------------------------------------------------------- */

struct key {
	const char *name;
	size_t count; /* offset in struct totals, or struct estimate */
};

#define COUNT(field)                                   \
	{                                              \
#field, offsetof(struct totals, field) \
	}

/* The keys of the lines total, stacks, loss, tracer and end whose values are counts. */
static const struct key keys[] = {
        COUNT(live_bytes),       COUNT(live_blocks),     COUNT(call_sites),
        COUNT(untracked_blocks), COUNT(untracked_bytes), COUNT(lost_call_sites),
        COUNT(truncated_blocks), COUNT(guessed_blocks),  COUNT(freed_elsewhere_blocks),
        COUNT(foreign_frees),    COUNT(tracer_bytes),    COUNT(dump_ns),
        COUNT(left_out_blocks),  COUNT(left_out_bytes),  COUNT(inherited_bytes),
        COUNT(inherited_blocks), COUNT(pause_ns),        COUNT(scan_ns),
        COUNT(running_threads),  COUNT(sample_interval),
};

#define ESTIMATE(name, field)                          \
	{                                              \
		name, offsetof(struct estimate, field) \
	}

/* The keys of the line sampling, and those of a call site. */
static const struct key estimate_keys[] = {
        ESTIMATE("sampled_blocks", sampled_blocks),
        ESTIMATE("sampled", sampled_blocks),
        ESTIMATE("live_bytes_error", live_bytes_error),
        ESTIMATE("error", live_bytes_error),
        ESTIMATE("allocated_bytes", allocated_bytes),
        ESTIMATE("allocated_blocks", allocated_blocks),
        ESTIMATE("peak_bytes", peak_bytes),
        ESTIMATE("peak_blocks", peak_blocks),
        ESTIMATE("since_mark_bytes", since_mark_bytes),
        ESTIMATE("since_mark_blocks", since_mark_blocks),
};

/* Stores the number VALUE in STRUCTURE if NAME is one of LIST_SIZE keys in LIST. */
static void read_count(struct draft *draft, const struct key *list, size_t list_size,
                       void *structure, const struct cursor *name, struct cursor value)
{
	int64_t number;

	for (size_t i = 0; i < list_size; i++) {
		if (!word_is(name, list[i].name))
			continue;
		if (scan_count(&value, &number) && at_end(&value))
			*(int64_t *)((char *)structure + list[i].count) = number;
		else
			draft_note_damage(draft, "a number is damaged");
	}
}

/* Reads WORD, "sampled=12", into ESTIMATE if it is one of its keys. */
static void read_estimate(struct draft *draft, struct estimate *estimate, const struct cursor *word)
{
	const char *equals = memchr(word->at, '=', (size_t)(word->end - word->at));
	if (!equals)
		return;
	struct cursor name = {word->at, equals}, value = {equals + 1, word->end};
	read_count(draft, estimate_keys, sizeof estimate_keys / sizeof *estimate_keys, estimate,
	           &name, value);
}

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

/* Returns the time in WORD, or NULL if it is none. */
static const char *read_time(struct draft *draft, const struct cursor *word)
{
	int64_t seconds;
	const char *text = unescape(&draft->arena, word);
	return parse_time(text, &seconds) ? text : NULL;
}

/* Reads NAME and VALUE of the lines recording, peak and mark, if they are theirs and no number. */
static void read_recording(struct draft *draft, const struct cursor *name,
                           const struct cursor *value)
{
	static const char *const states[] = {"off", "sample", "all"};
	for (size_t i = 0; word_is(name, "state") && i < sizeof states / sizeof *states; i++)
		if (word_is(value, states[i]))
			draft->dump.totals.recording = states[i];
	if (word_is(name, "since"))
		draft->dump.totals.recording_since = read_time(draft, value);
	if (word_is(name, "peak_time"))
		draft->dump.totals.peak_time = read_time(draft, value);
	if (word_is(name, "mark_time"))
		draft->dump.totals.mark_time = read_time(draft, value);
}

static void read_totals(struct draft *draft, struct cursor c)
{
	for (struct cursor word; next_word(&c, &word);) {
		const char *equals = memchr(word.at, '=', (size_t)(word.end - word.at));
		if (!equals)
			continue;
		struct cursor name = {word.at, equals}, value = {equals + 1, word.end};
		if (word_is(&name, "complete_stack_bytes_percent")) {
			if (!scan_percent(&value, &draft->dump.totals.complete_percent))
				draft_note_damage(draft, "a number is damaged");
			continue;
		}
		if (word_is(&name, "inherited"))
			draft->dump.totals.inherited = word_is(&value, "left_out")   ? "left_out"
			                               : word_is(&value, "included") ? "included"
			                                                             : NULL;
		read_recording(draft, &name, &value);
		read_count(draft, keys, sizeof keys / sizeof *keys, &draft->dump.totals, &name,
		           value);
		read_estimate(draft, &draft->dump.totals.estimate, &word);
	}
}

const char *const reach_names[REACH_NUMBERS] = {"definite", "indirect", "possible", "reachable",
                                                "within"};

/* Takes the value of "definite_bytes=" and so on.  Returns false if NAME is no such key. */
static bool read_kind(struct reach_sums *reach, const struct cursor *name, struct cursor value,
                      bool *is_whole)
{
	for (unsigned kind = 0; kind < REACHES; kind++) {
		struct cursor rest = *name;
		int64_t count;
		if (!skip_text(&rest, reach_names[kind]))
			continue;
		uint64_t *to = word_is(&rest, "_bytes")    ? &reach->bytes[kind]
		               : word_is(&rest, "_blocks") ? &reach->blocks[kind]
		                                           : NULL;
		if (!to)
			return false;
		if (scan_count(&value, &count) && at_end(&value))
			*to = (uint64_t)count;
		else
			*is_whole = false;
		return true;
	}
	return false;
}

/* Reads "definite_bytes=40 definite_blocks=1 ... pause_ns=53211 scanned=copy heap=known". */
static void read_kinds(struct draft *draft, struct cursor c)
{
	struct totals *totals = &draft->dump.totals;
	struct cursor line = c;
	bool is_whole = true;

	totals->reach = (struct reach_sums){.is_known = true}; /* the line may come twice */
	for (struct cursor word; next_word(&c, &word);) {
		const char *equals = memchr(word.at, '=', (size_t)(word.end - word.at));
		if (!equals)
			continue;
		struct cursor name = {word.at, equals}, value = {equals + 1, word.end};
		if (word_is(&name, "scanned"))
			totals->scanned = word_is(&value, "copy")       ? "copy"
			                  : word_is(&value, "in_place") ? "in_place"
			                                                : NULL;
		else if (word_is(&name, "heap"))
			totals->heap = word_is(&value, "known")  ? "known"
			               : word_is(&value, "part") ? "part"
			                                         : NULL;
		else
			read_kind(&totals->reach, &name, value, &is_whole);
	}
	if (!is_whole)
		draft_note_damage(draft, "a number is damaged");
	read_totals(draft, line);
}

/* Reads "definite=40/1", a kind of a call site.  Returns false if WORD is no such word.  Sets
 * *IS_WHOLE to false if a number is damaged or larger than those of SITE, whose bytes indirectly
 * lost blocks of other call sites may exceed. */
static bool read_site_kind(struct parsed_site *site, struct cursor word, bool *is_whole)
{
	for (unsigned kind = 0; kind < REACH_NUMBERS; kind++) {
		struct cursor value = word;
		int64_t bytes, blocks;
		if (!skip_text(&value, reach_names[kind]) || !skip_text(&value, "="))
			continue;
		if (!scan_count(&value, &bytes) || !skip_text(&value, "/") ||
		    !scan_count(&value, &blocks) || !at_end(&value) ||
		    (kind != REACH_INDIRECT &&
		     ((uint64_t)bytes > site->bytes || (uint64_t)blocks > site->blocks))) {
			*is_whole = false;
			return true;
		}
		site->reach.bytes[kind] = (uint64_t)bytes;
		site->reach.blocks[kind] = (uint64_t)blocks;
		return true;
	}
	return false;
}

static const char *known_reason(const struct cursor *word)
{
	static const char *const reasons[] = {"exit",   "signal",    "api",    "crash",
	                                      "misuse", "threshold", "height", "failure"};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (word_is(word, reasons[i]))
			return reasons[i];
	return NULL;
}

static void read_head(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
	unsigned version = 0;

	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "program=")) {
			word.end = c.end; /* the rest of the line */
			dump->program = unescape(&draft->arena, &word);
			break;
		}
		if (skip_text(&word, "version=")) {
			if (!scan_small(&word, &version) || !at_end(&word))
				version = 0;
		} else if (skip_text(&word, "reason=")) {
			dump->reason = known_reason(&word);
		} else if (skip_text(&word, "time=")) {
			dump->time = read_time(draft, &word);
		}
	}
	draft->has_head = true;
	if (dump->reason && strcmp(dump->reason, "crash") == 0)
		draft->in_crash = dump->crashed = true;
	if (dump->reason && strcmp(dump->reason, "misuse") == 0)
		dump->misused = true;
	if (version != LEAKWRAP_FORMAT_VERSION) {
		draft->is_skipped = version != 0;
		if (draft->is_skipped)
			dump->program = NULL; /* nothing of it is understood */
		draft_note_damage(draft, version ? "its format version is not known to this tool; "
		                                   "the dump is skipped"
		                                 : "its first line is damaged");
	} else if (!dump->program || !dump->reason || !dump->time) {
		draft_note_damage(draft, "its first line is damaged");
	}
}

/* Reads "/opt/app/server --port 8080". */
static void read_command(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;

	dump->command_count = 0; /* the line may come twice */
	for (struct cursor word; next_word(&c, &word);) {
		GROW(dump->command, draft->command_room, dump->command_count + 1);
		dump->command[dump->command_count++] = unescape(&draft->arena, &word);
	}
}

/* Enters the crash.  Returns false, and notes damage, after a call site: the lines of the crash
 * stand before all call sites. */
static bool enter_crash(struct draft *draft)
{
	if (draft->dump.site_count > 0) {
		draft_note_damage(draft, "a line of the crash is out of order");
		return false;
	}
	draft->in_crash = draft->dump.crashed = true;
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

/* Returns true if WORD is a name such as those of registers. */
static bool is_plain_name(const struct cursor *word)
{
	for (const char *p = word->at; p < word->end; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return !at_end(word);
}

/* Reads "signal=11 code=1 fault_address=0x0 thread=4712". */
static void read_crash(struct draft *draft, struct cursor c)
{
	struct fault *fault = &draft->dump.fault;
	bool signal = false, code = false, whole = true;
	uint64_t thread;

	if (!enter_crash(draft))
		return;
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "signal="))
			whole &= signal = scan_small(&word, &fault->signal) && at_end(&word);
		else if (skip_text(&word, "code="))
			whole &= code = scan_code(&word, &fault->code) && at_end(&word);
		else if (skip_text(&word, "exception=") && is_plain_name(&word))
			fault->exception = unescape(&draft->arena, &word);
		else if (skip_text(&word, "fault_address="))
			whole &= fault->addressed =
			        scan_hex(&word, &fault->fault_address) && at_end(&word);
		else if (skip_text(&word, "thread=") && scan_decimal(&word, &thread) &&
		         at_end(&word))
			fault->thread = thread;
	}
	fault->told = signal && code;
	if (!fault->told || !whole || !fault->thread)
		draft_note_damage(draft, "what it died of is damaged");
}

/* Reads "rip=0x55d0c8a01230 rsp=0x7ffd2f10". */
static void read_registers(struct draft *draft, struct cursor c)
{
	struct fault *fault = &draft->dump.fault;

	if (!enter_crash(draft))
		return;
	for (struct cursor word; next_word(&c, &word);) {
		const char *equals = memchr(word.at, '=', (size_t)(word.end - word.at));
		struct cursor name = {word.at, equals ? equals : word.at};
		struct cursor value = {equals ? equals + 1 : word.end, word.end};
		struct machine_register one = {0};
		if (!is_plain_name(&name) || !scan_hex(&value, &one.value) || !at_end(&value)) {
			draft_note_damage(draft, "a register is damaged");
			continue;
		}
		one.name = arena_copy(&draft->arena, name.at, (size_t)(name.end - name.at));
		GROW(fault->registers, draft->register_room, fault->register_count + 1);
		fault->registers[fault->register_count++] = one;
	}
}

/* Reads "double_free pointer=0x55d0c9a012a0 thread=4712 function=free", or "released", or "block
 * address=0x55d0c9a012a0 bytes=40 function=operator new". */
static void read_misuse(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
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
			function = unescape(&draft->arena, &word);
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
	draft->in_frames = NULL;
	draft->is_stack_broken = true;
	if (misuse->has[stack] || !whole || (stack != MISUSE_RELEASE && !number) ||
	    (stack == MISUSE_OFFENDER && (!function || !is_plain_name(&what)))) {
		draft_note_damage(draft, "what was misused is damaged");
		return;
	}
	if (stack == MISUSE_OFFENDER) {
		misuse->what = unescape(&draft->arena, &what);
		misuse->function = function;
	} else if (stack == MISUSE_BLOCK) {
		misuse->maker = function;
	}
	misuse->has[stack] = true;
	draft->is_stack_broken = false;
	draft->in_frames = &dump->misuse_frames[stack];
	draft->in_frames->first = dump->frame_count;
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

/* Takes off "25 blocks" or "1 block". */
static bool scan_counted(struct cursor *c, const char *noun, uint64_t *number)
{
	if (!scan_decimal(c, number) || !skip_text(c, noun))
		return false;
	skip_text(c, "s");
	return true;
}

/* Returns the last call site so far, or NULL. */
static struct parsed_site *last_site(const struct parsed_dump *dump)
{
	return dump->site_count ? &dump->sites[dump->site_count - 1] : NULL;
}

/* Drops the frames of SITE, which cannot be trusted. */
static void drop_frames(struct parsed_site *site)
{
	site->depth = 0;
	site->kind = STACK_TRUNCATED;
}

const char *const origin_names[3] = {"program", "library", "system_library"};

/* Reads WORD if it is "origin=NAME" or, behind that, "module=NUMBER".  Returns whether it is. */
static bool read_origin(struct parsed_site *site, struct cursor *word)
{
	uint64_t number;

	if (skip_text(word, "origin=")) {
		for (unsigned i = 0; i < 3; i++)
			if (word_is(word, origin_names[i]))
				site->origin = (enum origin)i;
	} else if (skip_text(word, "module=") && scan_decimal(word, &number) && at_end(word) &&
	           number <= UINT_MAX) {
		site->origin_module = (unsigned)number;
	} else {
		return false;
	}
	return true;
}

/* Reads "1: 819200 bytes in 25 blocks, complete".  "task=uart_rx" and "origin=library module=2" may
 * follow. */
static void read_site(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
	struct parsed_site site = {.first = dump->frame_count, .estimate = NO_ESTIMATE};
	bool broken = draft->is_stack_broken;

	draft->is_stack_broken = true;
	if (!scan_decimal(&c, &site.rank) || !skip_text(&c, ": ") ||
	    !scan_counted(&c, " byte", &site.bytes) || !skip_text(&c, " in ") ||
	    !scan_counted(&c, " block", &site.blocks) || !skip_text(&c, ", ")) {
		draft_note_damage(draft, "a call site is damaged");
		return;
	}
	struct cursor word = scan_word(&c);
	if (!scan_kind(&word, &site.kind)) {
		draft_note_damage(draft, "a call site is damaged");
		return;
	}
	if (site.bytes > (uint64_t)INT64_MAX - draft->site_bytes ||
	    site.blocks > (uint64_t)INT64_MAX - draft->site_blocks) {
		draft_note_damage(draft, "its call sites hold more than there can be");
		return;
	}
	bool is_whole = true;
	site.reach.is_known = dump->totals.reach.is_known;
	while (next_word(&c, &word)) {
		if (skip_text(&word, "task="))
			site.task = unescape(&draft->arena, &word);
		else if (!read_origin(&site, &word) && !read_site_kind(&site, word, &is_whole))
			read_estimate(draft, &site.estimate, &word);
	}
	if (!is_whole)
		draft_note_damage(draft, "the kinds of a call site are damaged");
	struct parsed_site *before = last_site(dump);
	uint64_t last = before ? before->rank : 0;
	if (site.rank != last + 1) {
		draft_note_damage(draft, "a call site is missing or out of order");
		/* The frames since the last call site may belong to the missing one, unless a frame
		 * that did not fit was noted already. */
		if (before && (!broken || site.rank <= last))
			drop_frames(before);
	}
	/* The frames behind a call site that comes too late may belong to any. */
	draft->is_stack_broken = site.rank <= last;
	if (draft->is_stack_broken)
		drop_frames(&site);
	GROW(dump->sites, draft->site_room, dump->site_count + 1);
	dump->sites[dump->site_count++] = site;
	draft->site_bytes += site.bytes;
	draft->site_blocks += site.blocks;
}

/* Ends the current stack: the frames that it has are its innermost ones. */
static void break_stack(struct draft *draft, const char *what)
{
	struct parsed_site *site = last_site(&draft->dump);
	draft_note_damage(draft, what);
	if (!draft->is_stack_broken && site)
		site->kind = STACK_TRUNCATED;
	draft->is_stack_broken = true;
}

/* Takes off "0 0x55d0c8a01234 load_config+0x24 [1] server+0x1234 exact=1". */
static bool scan_frame(struct draft *draft, struct cursor c, uint64_t *number,
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
		frame->function = unescape(&draft->arena, &name);
	}
	frame->offset = frame->address;
	if (skip_text(&c, " [")) {
		if (!scan_small(&c, &frame->module) || frame->module == 0 || !skip_text(&c, "] "))
			return false;
		word = scan_word(&c);
		if (!split_offset(&word, &name, &frame->offset))
			return false;
		frame->name = unescape(&draft->arena, &name);
	}
	while (next_word(&c, &word)) {
		if (word_is(&word, "exact=1"))
			frame->exact = true;
		else if (!memchr(word.at, '=', (size_t)(word.end - word.at)))
			return false;
	}
	return true;
}

static void read_frame(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
	uint64_t number;
	struct parsed_frame frame;

	if (!scan_frame(draft, c, &number, &frame)) {
		break_stack(draft, "a frame is damaged");
		return;
	}
	if (draft->is_stack_broken)
		return;
	struct parsed_site *site = last_site(dump);
	size_t *depth = draft->in_crash    ? &dump->crash_depth
	                : draft->in_frames ? &draft->in_frames->depth
	                : site             ? &site->depth
	                                   : NULL;
	if (!depth || number != *depth) {
		break_stack(draft, "a frame is missing or out of order");
		return;
	}
	if (draft->in_crash && number == 0)
		frame.exact = true;
	GROW(dump->frames, draft->frame_room, dump->frame_count + 1);
	dump->frames[dump->frame_count++] = frame;
	++*depth;
}

/* Reads "failures=1". */
static void read_injected(struct draft *draft, struct cursor c)
{
	if (!skip_text(&c, "failures=") || !scan_decimal(&c, &draft->dump.injected_failures))
		draft_note_damage(draft, "a number is damaged");
}

/* Adds the call site of the line C, whose frames follow. */
static void add_failure(struct draft *draft, struct cursor c, bool only_reached)
{
	struct parsed_dump *dump = &draft->dump;
	struct parsed_failure failure;

	draft->in_frames = NULL;
	draft->is_stack_broken = true;
	if (!scan_failure(c, &failure)) {
		draft_note_damage(draft, "a failure is damaged");
		return;
	}
	failure.only_reached = only_reached;
	failure.frames.first = dump->frame_count;
	GROW(dump->failures, draft->failure_room, dump->failure_count + 1);
	dump->failures[dump->failure_count] = failure;
	draft->in_frames = &dump->failures[dump->failure_count++].frames;
	draft->is_stack_broken = false;
}

static void read_failed(struct draft *draft, struct cursor c)
{
	add_failure(draft, c, false);
}

static void read_reached(struct draft *draft, struct cursor c)
{
	add_failure(draft, c, true);
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

/* Reads "1 0x55d0c8a00000-0x55d0c8a08000 bias=0x55d0c8a00000 build_id=0a1b2c...
 * path=/opt/app/server". */
static void read_module(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
	struct parsed_module module = {0};
	bool biased = false;

	if (!scan_small(&c, &module.number) || !skip_text(&c, " ") ||
	    !scan_hex(&c, &module.start) || !skip_text(&c, "-") || !scan_hex(&c, &module.end) ||
	    module.end < module.start) {
		draft_note_damage(draft, "a module is damaged");
		return;
	}
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "path=")) {
			word.end = c.end; /* the rest of the line */
			module.path = unescape(&draft->arena, &word);
			break;
		}
		if (skip_text(&word, "bias=")) {
			biased = scan_hex(&word, &module.bias) && at_end(&word);
		} else if (skip_text(&word, "build_id=") && is_build_id(&word)) {
			char *id = arena_copy(&draft->arena, word.at, (size_t)(word.end - word.at));
			for (char *p = id; *p; p++)
				*p = (char)tolower((unsigned char)*p);
			module.build_id = id;
		}
	}
	if (!module.path || !biased) {
		draft_note_damage(draft, "a module is damaged");
		return;
	}
	GROW(dump->modules, draft->module_room, dump->module_count + 1);
	dump->modules[dump->module_count++] = module;
}

static void read_note(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
	GROW(dump->notes, draft->note_room, dump->note_count + 1);
	dump->notes[dump->note_count++] = arena_copy(&draft->arena, c.at, (size_t)(c.end - c.at));
}

/* Reads "process" or "program". */
static void read_coverage(struct draft *draft, struct cursor c)
{
	struct cursor word = scan_word(&c);

	if (word_is(&word, "process"))
		draft->dump.coverage = "process";
	else if (word_is(&word, "program"))
		draft->dump.coverage = "program";
}

/* Reads "bound path=/usr/lib/libx.so". */
static void read_bypass(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
	struct cursor reason = scan_word(&c);
	struct bypass bypass = {.reason = unescape(&draft->arena, &reason)};

	if (skip_text(&c, " path=") && !word_is(&c, "?"))
		bypass.path = unescape(&draft->arena, &c);
	GROW(dump->bypasses, draft->bypass_room, dump->bypass_count + 1);
	dump->bypasses[dump->bypass_count++] = bypass;
}

/* Reads "sites=57 lines=240 dump_ns=812345". */
static void read_end(struct draft *draft, struct cursor c)
{
	struct cursor all = c;
	uint64_t sites = UINT64_MAX, lines = UINT64_MAX;

	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "sites=") && (!scan_decimal(&word, &sites) || !at_end(&word)))
			sites = UINT64_MAX;
		else if (skip_text(&word, "lines=") &&
		         (!scan_decimal(&word, &lines) || !at_end(&word)))
			lines = UINT64_MAX;
	}
	read_totals(draft, all);
	if (sites == UINT64_MAX || lines == UINT64_MAX)
		draft_note_damage(draft, "its end is damaged");
	else if (lines > draft->lines)
		draft_note_damage(draft, "lines of it are missing");
	else if (lines < draft->lines || sites != draft->dump.site_count)
		draft_note_damage(draft, "lines of it came twice or were changed");
}

/* -- every line -------------------------------------------------------------------------------- */

static const struct line_kind {
	const char *start; /* what stands behind the line's prefix */
	void (*read)(struct draft *draft, struct cursor c);
	bool ends_crash; /* no line of the crash comes later */
} line_kinds[] = {
        /* Most lines are of the first two kinds. */
        {"  #", read_frame, false},
        {"site ", read_site, true},
        {"dump ", read_head, false},
        {"note ", read_note, false},
        {"command ", read_command, false},
        {"crash ", read_crash, false},
        {"registers ", read_registers, false},
        {"misuse ", read_misuse, false},
        {"module ", read_module, true},
        {"total ", read_totals, true},
        {"recording ", read_totals, true},
        {"sampling ", read_totals, true},
        {"peak ", read_totals, true},
        {"mark ", read_totals, true},
        {"allocated ", read_totals, true},
        {"stacks ", read_totals, true},
        {"loss ", read_totals, true},
        {"tracer ", read_totals, true},
        {"coverage ", read_coverage, true},
        {"bypass ", read_bypass, true},
        {"injected ", read_injected, true},
        {"failed ", read_failed, true},
        {"reached ", read_reached, true},
        {"kinds ", read_kinds, true},
        {"end ", read_end, false},
};

bool draft_read(struct draft *draft, struct cursor c, bool whole)
{
	bool ends = starts_with(&c, "end ");

	draft->lines++;
	if (!whole && !ends) {
		/* In the crash, the number of the next frame shows if a frame is missing.
		 * Elsewhere the line may have been a call site. */
		if (draft->in_crash)
			draft_note_damage(draft, "a line of it is cut");
		else
			break_stack(draft, "a line of it is cut");
		return false;
	}
	for (size_t i = 0; !draft->is_skipped && i < sizeof line_kinds / sizeof *line_kinds; i++) {
		if (!skip_text(&c, line_kinds[i].start))
			continue;
		if (line_kinds[i].ends_crash)
			draft->in_crash = false;
		line_kinds[i].read(draft, c);
		break;
	}
	return ends;
}
