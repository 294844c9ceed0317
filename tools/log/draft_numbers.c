/* draft_numbers.c - see draft_numbers.h. */
#include "tools/log/draft_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/numbers.h"

#define ESTIMATE(name, field)                          \
	{                                              \
		name, offsetof(struct estimate, field) \
	}

/* The keys of the line sampling, and those of a call site. */
static const struct count_key estimate_keys[] = {
        ESTIMATE("sampled_blocks", sampled_blocks),
        ESTIMATE("sampled", sampled_blocks),
        ESTIMATE("live_bytes_error", live_bytes_error),
        ESTIMATE("error", live_bytes_error),
        ESTIMATE("allocated_bytes", allocated_bytes),
        ESTIMATE("allocated_blocks", allocated_blocks),
        ESTIMATE("temporary_blocks", temporary_blocks),
        ESTIMATE("peak_bytes", peak_bytes),
        ESTIMATE("peak_blocks", peak_blocks),
        ESTIMATE("since_mark_bytes", since_mark_bytes),
        ESTIMATE("since_mark_blocks", since_mark_blocks),
};

/* Stores the number VALUE in STRUCTURE if NAME is one of LIST_SIZE keys in LIST. */
static void read_count(struct draft *draft, const struct count_key *list, size_t list_size,
                       void *structure, const struct cursor *name, struct cursor value)
{
	int64_t number;

	for (size_t i = 0; i < list_size; i++) {
		if (!word_is(name, list[i].name))
			continue;
		if (scan_count(&value, &number) && at_end(&value))
			*(int64_t *)((char *)structure + list[i].offset) = number;
		else
			draft_note_damage(draft, "a number is damaged");
	}
}

void draft_read_estimate(struct draft *draft, struct estimate *estimate, const struct cursor *word)
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

const char *draft_read_time(struct draft *draft, const struct cursor *word)
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
	/* Older runtimes do not tell what is missing. */
	if (word_is(name, "state") || word_is(name, "missing"))
		draft->dump.totals.may_lack_blocks = !word_is(value, "none");
	if (word_is(name, "since"))
		draft->dump.totals.recording_since = draft_read_time(draft, value);
	if (word_is(name, "peak_time"))
		draft->dump.totals.peak_time = draft_read_time(draft, value);
	if (word_is(name, "mark_time"))
		draft->dump.totals.mark_time = draft_read_time(draft, value);
}

void draft_read_totals(struct draft *draft, struct cursor c)
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
		read_count(draft, total_keys, TOTAL_KEYS, &draft->dump.totals, &name, value);
		draft_read_estimate(draft, &draft->dump.totals.estimate, &word);
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

void draft_read_kinds(struct draft *draft, struct cursor c)
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
	draft_read_totals(draft, line);
}

bool draft_read_site_kind(struct parsed_site *site, struct cursor word, bool *is_whole)
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
