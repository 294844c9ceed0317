/* suppress.c - see suppress.h. */
#include "tools/model/suppress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/model/kinds.h"

/* -- patterns ---------------------------------------------------------------------------------- */

/* Returns true if PATTERN matches TEXT.  * matches anything, ^ at the start and $ at the end anchor
 * it.  Each piece between two stars matches at its first place, which leaves most text for the next
 * pieces. */
static bool pattern_matches(const char *pattern, const char *text)
{
	const bool at_start = *pattern == '^';
	pattern += at_start;
	const size_t size = strlen(pattern);
	const bool at_end = size > 0 && pattern[size - 1] == '$';
	const char *end = pattern + size - at_end;

	for (bool anchored = at_start;; anchored = false) {
		const char *star = memchr(pattern, '*', (size_t)(end - pattern));
		const size_t length = (size_t)((star ? star : end) - pattern);
		const size_t rest = strlen(text);
		if (!star && at_end)
			return (anchored ? rest == length : rest >= length) &&
			       memcmp(text + rest - length, pattern, length) == 0;
		const char *found = anchored ? (strncmp(text, pattern, length) == 0 ? text : NULL)
		                             : memmem(text, rest, pattern, length);
		if (!found)
			return false;
		if (!star)
			return true;
		text = found + length;
		pattern = star + 1;
	}
}

/* Returns true if PATTERN matches FILE, or names LINE of it, as "server.c:15" does. */
static bool place_matches(const char *pattern, const char *file, unsigned line)
{
	if (pattern_matches(pattern, file))
		return true;
	const char *colon = strrchr(pattern, ':');
	char *end;
	if (!colon || line == 0 || strtoul(colon + 1, &end, 10) != line ||
	    (*end != '\0' && strcmp(end, "$") != 0))
		return false;
	const size_t length = (size_t)(colon - pattern);
	char *file_pattern = xmalloc(length + sizeof "$");
	memcpy(file_pattern, pattern, length);
	strcpy(file_pattern + length, "$");
	const bool matches = pattern_matches(file_pattern, file);
	free(file_pattern);
	return matches;
}

bool frame_matches(const char *pattern, const struct location *location, const struct frame *frame)
{
	return (frame->function && pattern_matches(pattern, frame->function)) ||
	       (frame->file && place_matches(pattern, frame->file, frame->line)) ||
	       (location->module && pattern_matches(pattern, location->module->path));
}

bool stack_matches(const char *pattern, const struct stack *stack)
{
	for (unsigned i = 0; i < stack->depth; i++)
		for (unsigned j = 0; j < stack->at[i]->frame_count; j++)
			if (frame_matches(pattern, stack->at[i], &stack->at[i]->frames[j]))
				return true;
	return false;
}

/* -- files ------------------------------------------------------------------------------------- */

/* Reads KINDS of "[KINDS]:PATTERN", and sets *TEXT to what follows.  Returns a set of kinds, or 0
 * if they are not known. */
static unsigned read_kinds(const char **text)
{
	const char *end = strchr(*text, ']');

	if (!end)
		return 0;
	char *list = xstrdup(*text + 1);
	list[end - *text - 1] = '\0';
	const unsigned kinds = parse_kinds(list);
	free(list);
	*text = end + 1;
	return kinds;
}

/* Returns the kind of finding that the line TEXT names.  Sets *LEAK_KINDS to the kinds of leaks,
 * and *PATTERN to the pattern behind it.  Returns NULL if the line is no suppression. */
static const char *suppressed_kind(const char *text, unsigned *leak_kinds, const char **pattern)
{
	static const char *const kinds[] = {"leak", "crash", "abort", "killed", "hang", "misuse"};

	*leak_kinds = KINDS_ALL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const size_t length = strlen(kinds[i]);
		const char *behind = text + length;
		if (strncmp(text, kinds[i], length) != 0)
			continue;
		if (i == 0 && *behind == '[' && (*leak_kinds = read_kinds(&behind)) == 0)
			return NULL;
		if (behind[0] == ':' && behind[1] != '\0') {
			*pattern = behind + 1;
			return kinds[i];
		}
	}
	return NULL;
}

bool suppressions_read(struct suppressions *suppressions, struct arena *arena, const char *path)
{
	struct setting_lines lines = {.stream = fopen(path, "re")};
	if (!lines.stream) {
		complain("%s: %s", path, strerror(errno));
		return false;
	}
	remember_input(fileno(lines.stream));
	enum { WRONG_MAX = 10 }; /* a file of something else has any number of wrong lines */
	unsigned wrong = 0;
	for (const char *text; wrong < WRONG_MAX && (text = next_setting(&lines)) != NULL;) {
		unsigned leak_kinds;
		const char *pattern, *kind = suppressed_kind(text, &leak_kinds, &pattern);
		if (!kind) {
			complain("%s:%lu: a suppression is leak:PATTERN, or leak[KINDS]:PATTERN "
			         "with some of definite, indirect, possible and reachable; for a "
			         "torture also crash:, abort:, killed:, hang: or misuse:PATTERN",
			         path, lines.number);
			wrong++;
			continue;
		}
		GROW(suppressions->all, suppressions->room, suppressions->count + 1);
		suppressions->all[suppressions->count++] = (struct suppression){
		        .kind = kind,
		        .leak_kinds = leak_kinds,
		        .pattern = arena_copy(arena, pattern, strlen(pattern)),
		        .file = path,
		        .line = lines.number,
		};
	}
	const int error = wrong < WRONG_MAX ? errno : 0;
	if (error)
		complain("%s: %s", path, strerror(error));
	if (wrong == WRONG_MAX)
		complain("%s: the lines behind line %lu are not read", path, lines.number);
	free(lines.line);
	fclose(lines.stream);
	return wrong == 0 && !error;
}

/* -- dumps ------------------------------------------------------------------------------------- */

/* Returns what of REACH the suppression of KINDS covers: blocks that are lost behind others with
 * "indirect", and what lost blocks lead to with "definite". */
static struct reach_sums covered_reach(const struct reach_sums *reach, unsigned kinds)
{
	static const enum reach by[REACH_NUMBERS] = {[REACH_DEFINITE] = REACH_DEFINITE,
	                                             [REACH_INDIRECT] = REACH_DEFINITE,
	                                             [REACH_POSSIBLE] = REACH_POSSIBLE,
	                                             [REACH_REACHABLE] = REACH_REACHABLE,
	                                             [REACH_WITHIN] = REACH_INDIRECT};
	struct reach_sums covered = {.is_known = reach->is_known};

	for (unsigned kind = 0; kind < REACH_NUMBERS; kind++)
		if (kinds >> by[kind] & 1) {
			covered.bytes[kind] = reach->bytes[kind];
			covered.blocks[kind] = reach->blocks[kind];
		}
	return covered;
}

/* Returns the sum of NUMBERS, by enum reach, of a call site's own blocks. */
static uint64_t own_sum(const uint64_t numbers[REACH_NUMBERS])
{
	uint64_t sum = 0;
	for (unsigned kind = 0; kind < REACH_NUMBERS; kind++)
		if (kind != REACH_INDIRECT)
			add_up(&sum, numbers[kind]);
	return sum;
}

/* Takes what is covered out of SITE, of DUMP.  Returns true if all of it is. */
static bool suppress_site(struct dump *dump, struct site *site)
{
	const bool is_whole = site->stack->suppressed == KINDS_ALL;
	const struct reach_sums covered = covered_reach(&site->reach, site->stack->suppressed);
	uint64_t bytes = own_sum(covered.bytes), blocks = own_sum(covered.blocks);

	if (is_whole || bytes > site->bytes)
		bytes = site->bytes;
	if (is_whole || blocks > site->blocks)
		blocks = site->blocks;
	if (!is_whole && blocks == 0)
		return false;
	dump->suppressed_sites++;
	dump->suppressed_bytes += bytes;
	dump->suppressed_blocks += blocks;
	subtract_reach(&dump->totals.reach, &covered);
	add_reach(&dump->suppressed_reach, &covered);
	if (blocks == site->blocks)
		return true;
	site->bytes -= bytes;
	site->blocks -= blocks;
	site->estimate = NO_ESTIMATE;
	subtract_reach(&site->reach, &covered);
	return false;
}

static void apply_to_dump(struct dump *dump)
{
	size_t kept = 0;
	for (size_t i = 0; i < dump->site_count; i++) {
		struct site site = dump->sites[i];
		if (!site.stack->suppressed || !suppress_site(dump, &site))
			dump->sites[kept++] = site;
	}
	dump->site_count = kept;
}

void suppressions_apply(struct suppressions *suppressions, struct report *report)
{
	if (suppressions->count == 0)
		return;
	for (size_t i = 0; i < report->stack_count; i++) {
		struct stack *stack = report->stacks[i];
		for (size_t j = 0; j < suppressions->count; j++) {
			struct suppression *suppression = &suppressions->all[j];
			if ((suppression->leak_kinds & ~stack->suppressed) != 0 &&
			    strcmp(suppression->kind, "leak") == 0 &&
			    stack_matches(suppression->pattern, stack)) {
				suppression->used = true;
				stack->suppressed |= suppression->leak_kinds;
			}
		}
	}
	for (size_t i = 0; i < report->dump_count; i++)
		apply_to_dump(report->dumps[i]);
}

void suppressions_report_unused(const struct suppressions *suppressions)
{
	for (size_t i = 0; i < suppressions->count; i++)
		if (!suppressions->all[i].used && strcmp(suppressions->all[i].kind, "leak") == 0)
			complain("%s:%lu: leak:%s suppresses nothing", suppressions->all[i].file,
			         suppressions->all[i].line, suppressions->all[i].pattern);
}
