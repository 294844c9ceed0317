/* kinds.c - see kinds.h. */
#include "tools/model/kinds.h"

#include <string.h>

#include "tools/base/numbers.h"

const char *const kind_texts[REACH_NUMBERS] = {"definitely lost", "indirectly lost",
                                               "possibly lost", "still reachable",
                                               "indirectly lost"};

unsigned kinds_judged(enum origin origin)
{
	switch (origin) {
	case ORIGIN_PROGRAM:
		return KINDS_ALL;
	case ORIGIN_LIBRARY:
		return 1u << REACH_DEFINITE | 1u << REACH_INDIRECT;
	default:
		return 0;
	}
}

unsigned parse_kinds(const char *text)
{
	unsigned kinds = 0;

	if (strcmp(text, "all") == 0)
		return KINDS_ALL;
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, ",");
		unsigned kind = 0;
		while (kind < REACHES && (strlen(reach_names[kind]) != length ||
		                          memcmp(reach_names[kind], at, length) != 0))
			kind++;
		if (kind == REACHES)
			return 0;
		kinds |= 1u << kind;
		at += length;
		at += *at == ',';
	}
	return kinds;
}

void add_reach(struct reach_sums *sum, const struct reach_sums *one)
{
	sum->is_known |= one->is_known;
	for (unsigned kind = 0; kind < REACH_NUMBERS; kind++) {
		add_up(&sum->bytes[kind], one->bytes[kind]);
		add_up(&sum->blocks[kind], one->blocks[kind]);
	}
}

/* Returns A less B, or 0. */
static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void subtract_reach(struct reach_sums *sum, const struct reach_sums *part)
{
	for (unsigned kind = 0; kind < REACH_NUMBERS; kind++) {
		sum->bytes[kind] = difference(sum->bytes[kind], part->bytes[kind]);
		sum->blocks[kind] = difference(sum->blocks[kind], part->blocks[kind]);
	}
}

struct reach_sums only_kinds(const struct reach_sums *reach, unsigned kinds)
{
	struct reach_sums only = {.is_known = reach->is_known};

	for (unsigned kind = 0; kind < REACHES; kind++)
		if (kinds >> kind & 1) {
			only.bytes[kind] = reach->bytes[kind];
			only.blocks[kind] = reach->blocks[kind];
		}
	return only;
}

/* Returns the sum of the NUMBERS, by enum reach, of KINDS. */
static uint64_t sum_of(const uint64_t *numbers, unsigned kinds)
{
	uint64_t sum = 0;
	for (unsigned kind = 0; kind < REACHES; kind++)
		if (kinds >> kind & 1)
			add_up(&sum, numbers[kind]);
	return sum;
}

uint64_t kinds_bytes(const struct reach_sums *reach, unsigned kinds)
{
	return sum_of(reach->bytes, kinds);
}

uint64_t kinds_blocks(const struct reach_sums *reach, unsigned kinds)
{
	return sum_of(reach->blocks, kinds);
}

enum { WITH_INDIRECT = 1u << REACH_DEFINITE | 1u << REACH_INDIRECT };

uint64_t lost_bytes(const struct reach_sums *reach)
{
	return kinds_bytes(reach, WITH_INDIRECT);
}

uint64_t lost_blocks(const struct reach_sums *reach)
{
	return kinds_blocks(reach, WITH_INDIRECT);
}

/* Compares so that the greater number comes first. */
static int compare_down(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

int compare_lost(const struct reach_sums *a, const struct reach_sums *b)
{
	const enum reach order[] = {REACH_POSSIBLE, REACH_WITHIN};
	/* A lost block may have no bytes. */
	int first = compare_down(a->blocks[REACH_DEFINITE] > 0, b->blocks[REACH_DEFINITE] > 0);

	if (first == 0)
		first = compare_down(lost_bytes(a), lost_bytes(b));
	for (unsigned i = 0; i < sizeof order / sizeof *order && first == 0; i++) {
		first = compare_down(a->bytes[order[i]], b->bytes[order[i]]);
		if (first == 0)
			first = compare_down(a->blocks[order[i]], b->blocks[order[i]]);
	}
	return first;
}

/* Returns by how many bytes KINDS became more; 0 if they did not, or are not known. */
static uint64_t growth_of(const struct reach_sums *before, const struct reach_sums *after,
                          unsigned kinds)
{
	return before->is_known && after->is_known
	               ? difference(kinds_bytes(after, kinds), kinds_bytes(before, kinds))
	               : 0;
}

int compare_lost_growth(const struct reach_sums *before_a, const struct reach_sums *after_a,
                        const struct reach_sums *before_b, const struct reach_sums *after_b)
{
	const unsigned possible = 1u << REACH_POSSIBLE;
	int first = compare_down(growth_of(before_a, after_a, WITH_INDIRECT),
	                         growth_of(before_b, after_b, WITH_INDIRECT));
	return first ? first
	             : compare_down(growth_of(before_a, after_a, possible),
	                            growth_of(before_b, after_b, possible));
}

bool has_equal_kinds(const struct reach_sums *a, const struct reach_sums *b)
{
	return !a->is_known || !b->is_known ||
	       (memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0 &&
	        memcmp(a->blocks, b->blocks, sizeof a->blocks) == 0);
}
