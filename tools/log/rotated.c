/* rotated.c - see rotated.h. */
#include "tools/log/rotated.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util.h"

/* A log as the part of a rotated log. */
struct part {
	const char *path;
	size_t length;   /* of the name that all parts share */
	long long order; /* of the part: the oldest has the least, and the log itself has 0 */
	size_t index;    /* among the logs */
};

/* The most digits of a number that logrotate counts by.  A date has at least eight. */
enum { NUMBER_MAX = 4, DATE_MIN = 8, DATE_MAX = 14 };

/* Returns the LENGTH of PATH without ENDING. */
static size_t without_ending(const char *path, size_t length, const char *ending)
{
	const size_t size = strlen(ending);

	return length > size && memcmp(path + length - size, ending, size) == 0 ? length - size
	                                                                        : length;
}

/* Returns what the name PATH says: which part it is, and of which log. */
static struct part part_of(const char *path, size_t index)
{
	size_t length = without_ending(path, strlen(path), ".gz"), start, digits;
	long long number;

	length = without_ending(path, length, ".zst");
	for (start = length; start > 0 && isdigit((unsigned char)path[start - 1]); start--)
		;
	digits = length - start;
	number = digits > 0 && digits <= DATE_MAX ? strtoll(path + start, NULL, 10) : 0;
	if (start > 1 && path[start - 1] == '.' && digits > 0 && digits <= NUMBER_MAX)
		return (struct part){path, start - 1, -1 - number, index};
	if (start > 1 && path[start - 1] == '-' && digits >= DATE_MIN && digits <= DATE_MAX)
		return (struct part){path, start - 1, number - LLONG_MAX / 2, index};
	return (struct part){path, length, 0, index};
}

static int compare_names(const struct part *a, const struct part *b)
{
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return memcmp(a->path, b->path, a->length);
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

static int compare_indices(const void *left, const void *right)
{
	const size_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

void sort_rotated(const char **logs, size_t count)
{
	struct part *parts = xmalloc(count * sizeof *parts);
	size_t *places = xmalloc(count * sizeof *places);

	for (size_t i = 0; i < count; i++)
		parts[i] = part_of(logs[i], i);
	qsort(parts, count, sizeof *parts, compare_parts);
	for (size_t first = 0, behind; first < count; first = behind) {
		for (behind = first; behind < count; behind++) {
			if (compare_names(&parts[first], &parts[behind]) != 0)
				break;
			places[behind - first] = parts[behind].index;
		}
		if (parts[behind - 1].order != 0)
			continue; /* the log itself is not there */
		qsort(places, behind - first, sizeof *places, compare_indices);
		for (size_t i = first; i < behind; i++)
			logs[places[i - first]] = parts[i].path;
	}
	free(parts);
	free(places);
}
