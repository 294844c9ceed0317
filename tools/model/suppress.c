/* suppress.c - see suppress.h. */
#include "tools/model/suppress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model/kinds.h"

/* -- patterns ---------------------------------------------------------------------------------- */

/* Returns true if PATTERN matches TEXT.  * matches anything, ^ and $ anchor an end.  Each piece
 * between two stars matches at its first place, which leaves most text for the next pieces. */
static bool pattern_matches(const char *pattern, const char *text)
{
	bool anchored = *pattern == '^';
	if (anchored)
		pattern++;
	for (;;) {
		size_t length = strcspn(pattern, "*$");
		const char *after = pattern + length;
		bool last = *after == '\0' || (after[0] == '$' && after[1] == '\0');
		if (last && *after == '$') {
			size_t rest = strlen(text);
			if (rest < length || (anchored && rest != length))
				return false;
			return memcmp(text + rest - length, pattern, length) == 0;
		}
		if (*after == '$') /* in the middle it is a character like any other */
			length = 1 + (size_t)(after - pattern);
		const char *found = anchored ? (strncmp(text, pattern, length) == 0 ? text : NULL)
		                             : memmem(text, strlen(text), pattern, length);
		if (!found)
			return false;
		text = found + length;
		pattern += length;
		anchored = *pattern != '*' && *pattern != '\0';
		while (*pattern == '*')
			pattern++;
		if (*pattern == '\0')
			return true;
	}
}

bool frame_matches(const char *pattern, const struct location *location, const struct frame *frame)
{
	return (frame->function && pattern_matches(pattern, frame->function)) ||
	       (frame->file && pattern_matches(pattern, frame->file)) ||
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

/* Returns the kind of finding that the line TEXT names, and sets *PATTERN to the pattern behind it.
 * Returns NULL if the line is no suppression. */
static const char *suppressed_kind(const char *text, const char **pattern)
{
	static const char *const kinds[] = {"leak", "crash", "abort", "killed", "hang", "misuse"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const size_t length = strlen(kinds[i]);
		if (strncmp(text, kinds[i], length) == 0 && text[length] == ':' &&
		    text[length + 1] != '\0') {
			*pattern = text + length + 1;
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
	bool fine = true;
	for (const char *text; (text = next_setting(&lines)) != NULL;) {
		const char *pattern, *kind = suppressed_kind(text, &pattern);
		if (!kind) {
			complain("%s:%lu: a suppression is leak:PATTERN", path, lines.number);
			fine = false;
			continue;
		}
		GROW(suppressions->all, suppressions->room, suppressions->count + 1);
		suppressions->all[suppressions->count++] = (struct suppression){
		        .kind = kind,
		        .pattern = arena_copy(arena, pattern, strlen(pattern)),
		        .file = path,
		        .line = lines.number,
		};
	}
	if (errno) {
		complain("%s: %s", path, strerror(errno));
		fine = false;
	}
	free(lines.line);
	fclose(lines.stream);
	return fine;
}

/* -- dumps ------------------------------------------------------------------------------------- */

static void apply_to_dump(struct dump *dump)
{
	size_t kept = 0;
	for (size_t i = 0; i < dump->site_count; i++) {
		struct site site = dump->sites[i];
		if (!site.stack->suppression) {
			dump->sites[kept++] = site;
			continue;
		}
		dump->suppressed_sites++;
		dump->suppressed_bytes += site.bytes;
		dump->suppressed_blocks += site.blocks;
		subtract_reach(&dump->totals.reach, &site.reach);
		add_reach(&dump->suppressed_reach, &site.reach);
	}
	dump->site_count = kept;
}

void suppressions_apply(struct suppressions *suppressions, struct report *report)
{
	if (suppressions->count == 0)
		return;
	for (size_t i = 0; i < report->stack_count; i++) {
		struct stack *stack = report->stacks[i];
		for (size_t j = 0; j < suppressions->count && !stack->suppression; j++) {
			if (strcmp(suppressions->all[j].kind, "leak") == 0 &&
			    stack_matches(suppressions->all[j].pattern, stack)) {
				suppressions->all[j].used = true;
				stack->suppression = &suppressions->all[j];
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
