/* rotated.c - see rotated.h. */
#include "tools/log/rotated.h"

#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/log/log_file.h"
#include "tools/log/read_log.h"

/* -- names ------------------------------------------------------------------------------------- */

/* What follows the name that all parts share.  logrotate appends a number of few digits, or a date
 * by its option dateformat=: year, month and day, perhaps with the time, or a time in seconds.
 * Numbers of five to seven digits are neither: they belong to the name, as a process id does. */
#define YEAR     "(19|20)[0-9]{2}"
#define MONTH    "(0[1-9]|1[0-2])"
#define DAY      "([0-2][0-9]|3[01])"
#define TIME     "([-_T:]?[0-9]+)*"
#define NUMBER   "\\.[0-9]{1,4}"
#define DATE     "[-._](" YEAR "[-_.]?" MONTH "[-_.]?" DAY TIME "|[0-9]{8,18})"
#define ENDING   "(\\.gz)?(\\.zst)?$"
#define NUMBERED NUMBER ENDING
#define DATED    DATE ENDING

/* With logrotate's option extension= the name's last part stays behind the number or the date. */
#define EXTENDED "(" NUMBER "|" DATE ")(\\.[a-zA-Z]+)" ENDING

/* The most digits of a date and a time that a number can hold. */
enum { DATE_MAX = 18 };

/* A log as the part of a rotated log. */
struct part {
	const char *path;
	char *name;      /* PATH with its extension in front of the number or the date; owned */
	size_t length;   /* of the part of NAME that all parts share */
	long long order; /* of the part: the oldest has the least, and the log itself has 0 */
	size_t index;    /* among the logs */
	bool is_dated;
};

struct patterns {
	regex_t numbered, dated, extended, ending;
};

static void compile(regex_t *pattern, const char *text)
{
	if (regcomp(pattern, text, REG_EXTENDED) != 0)
		die("cannot compile %s", text);
}

/* Returns the number that the digits from TEXT to END make, or -1 if they are too many. */
static long long joined_digits(const char *text, const char *end)
{
	long long number = 0;
	size_t count = 0;

	for (; text < end; text++) {
		if (*text < '0' || *text > '9')
			continue;
		if (++count > DATE_MAX)
			return -1;
		number = 10 * number + (*text - '0');
	}
	return number;
}

static int compare_paths(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

/* The paths of all logs, sorted. */
struct sorted_paths {
	const char **paths; /* owned */
	size_t count;
};

static struct sorted_paths sort_paths(const char *const *logs, size_t count)
{
	struct sorted_paths sorted = {xmalloc(count * sizeof *sorted.paths), count};

	for (size_t i = 0; i < count; i++)
		sorted.paths[i] = logs[i];
	qsort(sorted.paths, count, sizeof *sorted.paths, compare_paths);
	return sorted;
}

static bool has_path(const struct sorted_paths *sorted, const char *path)
{
	return bsearch(&path, sorted->paths, sorted->count, sizeof path, compare_paths) != NULL;
}

/* Returns a copy of PATH, which the caller frees.  The extension stands in front of the number or
 * the date, as it does without the option extension=, if LOGS has the log itself. */
static char *name_of(const struct patterns *patterns, const char *path,
                     const struct sorted_paths *logs)
{
	enum { GROUPS = 10 };
	regmatch_t match[GROUPS];
	/* Behind it are the two groups of ENDING. */
	const regmatch_t *const extension = &match[patterns->extended.re_nsub - 2];
	const size_t size = strlen(path) + 1;
	char *name = xstrdup(path);

	if (regexec(&patterns->extended, path, GROUPS, match, 0) != 0)
		return name;
	snprintf(name, size, "%.*s%.*s", (int)match->rm_so, path,
	         (int)(extension->rm_eo - extension->rm_so), path + extension->rm_so);
	if (!has_path(logs, name))
		memcpy(name, path, size);
	else
		snprintf(name + strlen(name), size - strlen(name), "%.*s%s",
		         (int)(extension->rm_so - match->rm_so), path + match->rm_so,
		         path + extension->rm_eo);
	return name;
}

/* Sets what the name of PART says: which part it is, and of which log. */
static void read_name(const struct patterns *patterns, struct part *part)
{
	regmatch_t end, match;
	long long number;

	/* This always matches: the pattern may be empty. */
	(void)regexec(&patterns->ending, part->name, 1, &end, 0);
	part->length = (size_t)end.rm_so;
	if (regexec(&patterns->dated, part->name, 1, &match, 0) == 0 && match.rm_so > 0) {
		number = joined_digits(part->name + match.rm_so, part->name + end.rm_so);
		if (number >= 0) {
			part->length = (size_t)match.rm_so;
			part->order = number - LLONG_MAX / 2;
			part->is_dated = true;
			return;
		}
	}
	if (regexec(&patterns->numbered, part->name, 1, &match, 0) == 0 && match.rm_so > 0) {
		part->length = (size_t)match.rm_so;
		part->order = -1 - joined_digits(part->name + match.rm_so, part->name + end.rm_so);
	}
}

static int compare_names(const struct part *a, const struct part *b)
{
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return memcmp(a->name, b->name, a->length);
}

/* Sorts the parts of a log together, the oldest first. */
static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	const int names = compare_names(a, b);

	if (names != 0)
		return names;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* -- what the logs say ------------------------------------------------------------------------- */

/* So much of a log is read to find its first dump. */
enum { START_SIZE = 64 * 1024 };

struct first_dump {
	unsigned long pid, sequence; /* both 0: there is none */
};

static void take_first(void *context, const struct parsed_dump *parsed)
{
	struct first_dump *first = context;

	if (first->sequence == 0)
		*first = (struct first_dump){parsed->pid, parsed->sequence};
}

/* Returns the first dump of the log PATH.  There is none if PATH is no regular file: it can be read
 * only once. */
static struct first_dump first_dump_of(const char *path)
{
	struct first_dump first = {0, 0};
	const int fd = open_regular(path);
	char *start;
	size_t filled = 0;
	ssize_t got;

	if (fd < 0)
		return first;
	start = xmalloc(START_SIZE);
	struct log_file *file = log_file_start(fd);
	while ((got = log_file_read(file, start + filled, START_SIZE - filled)) > 0)
		filled += (size_t)got;
	log_file_end(file);
	close(fd);
	parse_text(start, filled, take_first, &first);
	free(start);
	return first;
}

/* Returns true if the numbers of the COUNT PARTS, without the log itself, count rotations.  Then a
 * part begins with a later dump than the first of its process.  If the option log= ends in %n or
 * %p, the numbers are those of dumps or processes. */
static bool are_numbers_of_rotations(const struct part *parts, size_t count)
{
	bool are_sequences = true, are_pids = true, goes_on = false;

	for (size_t i = 0; i < count; i++) {
		const struct first_dump first = first_dump_of(parts[i].path);
		if (first.sequence == 0)
			continue;
		goes_on |= first.sequence > 1;
		are_sequences &= -1 - parts[i].order == (long long)first.sequence;
		are_pids &= -1 - parts[i].order == (long long)first.pid;
	}
	return goes_on && !are_sequences && !are_pids;
}

/* Returns true if the COUNT PARTS, the oldest first, are those of a rotated log.  Right after the
 * rotation, the log itself is not there. */
static bool are_rotated(const struct part *parts, size_t count)
{
	const struct part *newest = &parts[count - 1];

	return count > 1 &&
	       (newest->order == 0 || newest->is_dated || are_numbers_of_rotations(parts, count));
}

/* -- order ------------------------------------------------------------------------------------- */

static int compare_indices(const void *left, const void *right)
{
	const size_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Returns the COUNT LOGS as parts, for free_parts.  Parts of one log come together, the
 * oldest first. */
static struct part *sorted_parts(const char *const *logs, size_t count)
{
	struct part *parts = xmalloc(count * sizeof *parts);
	struct sorted_paths paths = sort_paths(logs, count);
	struct patterns patterns;

	compile(&patterns.numbered, NUMBERED);
	compile(&patterns.dated, DATED);
	compile(&patterns.extended, EXTENDED);
	compile(&patterns.ending, ENDING);
	for (size_t i = 0; i < count; i++) {
		parts[i] = (struct part){
		        .path = logs[i], .name = name_of(&patterns, logs[i], &paths), .index = i};
		read_name(&patterns, &parts[i]);
	}
	regfree(&patterns.numbered);
	regfree(&patterns.dated);
	regfree(&patterns.extended);
	regfree(&patterns.ending);
	free(paths.paths);
	qsort(parts, count, sizeof *parts, compare_parts);
	return parts;
}

static void free_parts(struct part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(parts[i].name);
	free(parts);
}

/* Returns how many of the COUNT sorted PARTS, from the first on, have its name. */
static size_t count_namesakes(const struct part *parts, size_t count)
{
	size_t same = 1;

	while (same < count && compare_names(&parts[0], &parts[same]) == 0)
		same++;
	return same;
}

void sort_rotated(const char **logs, size_t count)
{
	struct part *parts = sorted_parts(logs, count);
	size_t *places = xmalloc(count * sizeof *places);

	for (size_t first = 0, same; first < count; first += same) {
		same = count_namesakes(parts + first, count - first);
		if (!are_rotated(parts + first, same))
			continue;
		for (size_t i = 0; i < same; i++)
			places[i] = parts[first + i].index;
		qsort(places, same, sizeof *places, compare_indices);
		for (size_t i = 0; i < same; i++)
			logs[places[i]] = parts[first + i].path;
	}
	free_parts(parts, count);
	free(places);
}

bool has_log_without_dumps(const char *const *logs, const bool *lacks, size_t count)
{
	struct part *parts = sorted_parts(logs, count);
	bool found = false;

	for (size_t first = 0, same; first < count && !found; first += same) {
		size_t lacking = 0;
		same = count_namesakes(parts + first, count - first);
		for (size_t i = first; i < first + same; i++)
			lacking += lacks[parts[i].index];
		found = lacking == same || (lacking > 0 && !are_rotated(parts + first, same));
	}
	free_parts(parts, count);
	return found;
}
