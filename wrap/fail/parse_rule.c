/* parse_rule.c - parses the option fail=: words with commas between them. */
#include "wrap/fail/fail.h"

#include <string.h>

/* A word, or the value of a word.  Not NUL-terminated. */
struct span {
	const char *start, *end;
};

/* Takes TEXT off the start of *WORD.  Returns false, and changes nothing, if TEXT does not stand
 * there. */
static bool skip(struct span *word, const char *text)
{
	const size_t length = strlen(text);

	if ((size_t)(word->end - word->start) < length || memcmp(word->start, text, length) != 0)
		return false;
	word->start += length;
	return true;
}

/* Takes a number in BASE, 10 or 16, off the start of *WORD.  Returns false if there is none, or if
 * it does not fit. */
static bool skip_number(struct span *word, unsigned base, uint64_t *number)
{
	const char *const start = word->start;

	for (*number = 0; word->start < word->end; word->start++) {
		const char c = *word->start;
		const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
		                       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
		                                              : 16;

		if (digit >= base)
			break;
		if (*number > (UINT64_MAX - digit) / base)
			return false;
		*number = *number * base + digit;
	}
	return word->start > start;
}

/* Parses WORD as one number, at least LEAST. */
static bool parse_number(struct span word, unsigned base, uint64_t least, uint64_t *number)
{
	return skip_number(&word, base, number) && word.start == word.end && *number >= least;
}

/* Parses SIZE, MIN-, -MAX or MIN-MAX. */
static bool parse_sizes(struct span word, struct leakwrap_fail_rule *rule)
{
	uint64_t smallest = 0, largest = SIZE_MAX;
	const bool has_smallest = skip_number(&word, 10, &smallest);

	if (!has_smallest && word.start == word.end)
		return false;
	if (!skip(&word, "-"))
		largest = smallest;
	else if (word.start < word.end && !skip_number(&word, 10, &largest))
		return false;
	if (word.start != word.end || smallest > largest || largest > SIZE_MAX ||
	    (!has_smallest && largest == SIZE_MAX))
		return false;
	rule->smallest = (size_t)smallest;
	rule->largest = (size_t)largest;
	return true;
}

/* Parses WORD as the identity of a call site: hexadecimal, as a dump shows it or without 0x. */
static bool parse_identity(struct span word, uint64_t *identity)
{
	skip(&word, "0x");
	return parse_number(word, 16, 0, identity);
}

/* Copies WORD, which must not be empty, to TEXT of SIZE bytes, and a NUL. */
static bool copy_word(struct span word, char *text, size_t size)
{
	const size_t length = (size_t)(word.end - word.start);

	if (length == 0 || length >= size)
		return false;
	memcpy(text, word.start, length);
	text[length] = '\0';
	return true;
}

/* Sets the choice of RULE.  Returns false if it is set already. */
static bool choose(struct leakwrap_fail_rule *rule, enum leakwrap_fail_choice choice)
{
	const bool is_first = rule->choice == LEAKWRAP_FAIL_NOTHING;

	rule->choice = choice;
	return is_first;
}

static bool parse_word(struct span word, struct leakwrap_fail_rule *rule, uint64_t *hit)
{
	if (skip(&word, "nth="))
		return choose(rule, LEAKWRAP_FAIL_NTH) && parse_number(word, 10, 1, &rule->number);
	if (skip(&word, "rate="))
		return choose(rule, LEAKWRAP_FAIL_RATE) && parse_number(word, 10, 1, &rule->number);
	if (skip(&word, "site="))
		return choose(rule, LEAKWRAP_FAIL_SITE) && parse_identity(word, &rule->site);
	if (skip(&word, "seed="))
		return parse_number(word, 10, 0, &rule->seed);
	if (skip(&word, "hit="))
		return parse_number(word, 10, 1, hit);
	if (skip(&word, "size="))
		return parse_sizes(word, rule);
	if (skip(&word, "below="))
		return copy_word(word, rule->below, sizeof(rule->below));
	if (skip(&word, "plan="))
		return choose(rule, LEAKWRAP_FAIL_PLAN) &&
		       copy_word(word, rule->plan, sizeof(rule->plan));
	if (skip(&word, "sticky"))
		rule->is_sticky = true;
	else if (!skip(&word, "list") || !choose(rule, LEAKWRAP_FAIL_LIST))
		return false;
	return word.start == word.end;
}

/* Returns the name of WORD: the part before its value. */
static struct span name_of(struct span word)
{
	const char *equals = memchr(word.start, '=', (size_t)(word.end - word.start));

	return (struct span){word.start, equals ? equals : word.end};
}

/* Returns whether one of the words from TEXT to WORD has the same name as WORD. */
static bool is_repeated(const char *text, struct span word)
{
	const struct span name = name_of(word);
	const size_t length = (size_t)(name.end - name.start);

	while (text < word.start) {
		const char *comma = memchr(text, ',', (size_t)(word.start - text));
		const struct span earlier = name_of((struct span){text, comma});

		if ((size_t)(earlier.end - earlier.start) == length &&
		    memcmp(earlier.start, name.start, length) == 0)
			return true;
		text = comma + 1;
	}
	return false;
}

bool leakwrap_fail_parse(const char *text, size_t length, struct leakwrap_fail_rule *rule)
{
	const char *const start = text, *const end = text + length;
	uint64_t hit = 0;

	memset(rule, 0, sizeof(*rule));
	rule->largest = SIZE_MAX;
	if (length == 3 && memcmp(text, "off", 3) == 0)
		return true;
	while (text < end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		const struct span word = {text, comma ? comma : end};

		if (is_repeated(start, word) || !parse_word(word, rule, &hit))
			return false;
		text = comma ? comma + 1 : end;
	}
	if (rule->choice == LEAKWRAP_FAIL_SITE)
		rule->number = hit > 0 ? hit : 1;
	else if (hit > 0)
		return false;
	return rule->choice != LEAKWRAP_FAIL_NOTHING;
}
