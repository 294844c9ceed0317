/* draft_lines.c - see draft_lines.h. */
#include "tools/log/draft_lines.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "report/format.h"
#include "tools/base/memory.h"
#include "tools/log/draft_blocks.h"
#include "tools/log/draft_crash.h"
#include "tools/log/draft_numbers.h"
#include "tools/log/scan_failure.h"

static const char *known_reason(const struct cursor *word)
{
	static const char *const reasons[] = {"exit",   "signal",    "api",    "crash",
	                                      "misuse", "threshold", "height", "failure"};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (word_is(word, reasons[i]))
			return reasons[i];
	return NULL;
}

/* In seconds.  No machine runs for longer, and multiples of such times are no large numbers. */
static const int64_t uptime_max = INT64_C(1) << 40;

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
			dump->time = draft_read_time(draft, &word);
		} else if (skip_text(&word, "uptime=")) {
			if (!scan_count(&word, &dump->uptime) || !at_end(&word) ||
			    dump->uptime > uptime_max)
				dump->uptime = 0;
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
	site->lacks_frames = true;
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

/* Returns whether the kinds of SITE hold more than it has. */
static bool has_more_kinds_than_blocks(const struct parsed_site *site)
{
	uint64_t bytes = 0, blocks = 0;

	for (unsigned kind = 0; kind < REACH_NUMBERS; kind++) {
		if (kind == REACH_INDIRECT)
			continue; /* these are blocks of other call sites, too */
		bytes += site->reach.bytes[kind];
		blocks += site->reach.blocks[kind];
	}
	return bytes > site->bytes || blocks > site->blocks;
}

/* Adds BYTES in BLOCKS to those of all call sites of DRAFT: those that a call site has, or that its
 * lost blocks lead to.  Returns false if they become more than there can be. */
static bool count_site(struct draft *draft, uint64_t bytes, uint64_t blocks)
{
	if (bytes > (uint64_t)INT64_MAX - draft->site_bytes ||
	    blocks > (uint64_t)INT64_MAX - draft->site_blocks)
		return false;
	draft->site_bytes += bytes;
	draft->site_blocks += blocks;
	return true;
}

/* Reads "1: 819200 bytes in 25 blocks, complete".  "task=uart_rx" and "origin=library module=2" may
 * follow. */
static void read_site(struct draft *draft, struct cursor c)
{
	struct parsed_dump *dump = &draft->dump;
	struct parsed_site site = {.estimate = NO_ESTIMATE, .first = dump->frame_count};
	const bool was_broken = draft->is_stack_broken;

	draft->is_stack_broken = draft->is_site_open = true;
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
	bool is_whole = true;
	site.reach.is_known = dump->totals.reach.is_known;
	while (next_word(&c, &word)) {
		if (skip_text(&word, "task="))
			site.task = unescape(&draft->arena, &word);
		else if (!read_origin(&site, &word) &&
		         !draft_read_site_kind(&site, word, &is_whole))
			draft_read_estimate(draft, &site.estimate, &word);
	}
	if (!is_whole || has_more_kinds_than_blocks(&site)) {
		draft_note_damage(draft, "the kinds of a call site are damaged");
		site.reach = (struct reach_sums){.is_known = site.reach.is_known};
	}
	if (!count_site(draft, site.bytes, site.blocks) ||
	    !count_site(draft, site.reach.bytes[REACH_INDIRECT],
	                site.reach.blocks[REACH_INDIRECT])) {
		draft_note_damage(draft, "its call sites hold more than there can be");
		return;
	}
	struct parsed_site *before = last_site(dump);
	uint64_t last = before ? before->rank : 0;
	/* Three cases.  The rank is the next one: fine.  It is larger: a call site is missing, so
	 * the frames before may belong to it, unless a frame that did not fit was noted already.
	 * It is not larger: this call site is late, so the frames before and behind may belong to
	 * any. */
	if (site.rank != last + 1) {
		draft_note_damage(draft, "a call site is missing or out of order");
		if (before && (!was_broken || site.rank <= last))
			drop_frames(before);
	}
	draft->is_stack_broken = site.rank <= last;
	if (draft->is_stack_broken)
		drop_frames(&site);
	GROW(dump->sites, draft->site_room, dump->site_count + 1);
	dump->sites[dump->site_count++] = site;
}

/* Ends the current stack: the frames that it has are its innermost ones. */
static void break_stack(struct draft *draft, const char *what)
{
	struct parsed_site *site = draft->in_frames ? NULL : last_site(&draft->dump);
	draft_note_damage(draft, what);
	if (!draft->is_stack_broken && site) {
		site->kind = STACK_TRUNCATED;
		site->lacks_frames = true;
	}
	draft->is_stack_broken = true;
}

void draft_note_loss(struct draft *draft, const char *what)
{
	if (draft->is_site_open)
		break_stack(draft, what);
	else
		draft_note_damage(draft, what);
}

/* Takes off "0 0x55d0c8a01234 load_config+0x24 [1] server+0x1234 exact=1". */
static bool scan_frame(struct draft *draft, struct cursor c, uint64_t *number,
                       struct parsed_frame *frame)
{
	struct cursor name;
	uint64_t into_function;

	*frame = (struct parsed_frame){0};
	if (!scan_decimal(&c, number) || !skip_text(&c, " ") || !scan_hex(&c, &frame->address) ||
	    !skip_text(&c, " "))
		return false;
	struct cursor word = scan_word(&c);
	if (!word_is(&word, "?")) {
		if (!split_offset(&word, &name, &into_function))
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
	draft_read_totals(draft, all);
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
        {"crash ", draft_read_crash, false},
        {"registers ", draft_read_registers, false},
        {"misuse ", draft_read_misuse, false},
        {"module ", read_module, true},
        {"total ", draft_read_totals, true},
        {"recording ", draft_read_totals, true},
        {"sampling ", draft_read_totals, true},
        {"peak ", draft_read_totals, true},
        {"mark ", draft_read_totals, true},
        {"allocated ", draft_read_totals, true},
        {"stacks ", draft_read_totals, true},
        {"loss ", draft_read_totals, true},
        {"tracer ", draft_read_totals, true},
        {"coverage ", read_coverage, true},
        {"bypass ", read_bypass, true},
        {"injected ", read_injected, true},
        {"failed ", read_failed, true},
        {"reached ", read_reached, true},
        {"kinds ", draft_read_kinds, true},
        {"blocks ", draft_read_blocks, true},
        {"memory ", draft_read_memory, true},
        {"own ", draft_read_own, true},
        {"root ", draft_read_root, true},
        {"stack ", draft_read_stack, true},
        {"end ", read_end, false},
};

bool draft_read(struct draft *draft, struct cursor c, bool whole)
{
	bool ends = starts_with(&c, "end ");

	draft->lines++;
	if (!whole && !ends) {
		draft->is_site_open &= at_end(&c) || starts_with(&c, "  #");
		draft_note_loss(draft, "a line of it is cut");
		/* In the crash, the number of the next frame shows if a frame is missing.
		 * Elsewhere the line may have been a call site. */
		draft->is_stack_broken |= !draft->in_crash;
		return false;
	}
	for (size_t i = 0; !draft->is_skipped && i < sizeof line_kinds / sizeof *line_kinds; i++) {
		if (!skip_text(&c, line_kinds[i].start))
			continue;
		if (line_kinds[i].ends_crash)
			draft->in_crash = false;
		draft->is_site_open &= line_kinds[i].read == read_frame;
		line_kinds[i].read(draft, c);
		break;
	}
	return ends;
}
