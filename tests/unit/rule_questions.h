/* rule_questions.h - questions to the rules for pointers into blocks (wrap/rules/interior_rules.h),
 * for unit tests. */
#ifndef RULE_QUESTIONS_H
#define RULE_QUESTIONS_H

#include "rule_memory.h"
#include "wrap/rules/interior_rules.h"

#define BLOCK ((leakwrap_word)START + 1024)
#define PLACE ((leakwrap_word)START + 256)

typedef bool rule(const struct leakwrap_interior *in);

/* A number at ADDRESS that takes the place of another one, and whether the rule still holds. */
struct change {
	uint64_t address;
	unsigned size;
	uint64_t number;
	bool holds;
};

static struct leakwrap_interior in;

/* Begins a test with a pointer at PLACE, OFFSET bytes behind the start of a block of SIZE bytes,
 * and with memory that holds zeros. */
static void begin(leakwrap_word size, leakwrap_word offset)
{
	clear();
	in = (struct leakwrap_interior){&memory, BLOCK, size, BLOCK + offset, PLACE, offset};
}

/* Makes the block larger by MORE bytes, and lets the pointer lead FARTHER bytes farther. */
static void change_block(leakwrap_word more, leakwrap_word farther)
{
	in.size += more;
	in.offset += farther;
	in.pointer += farther;
}

static bool holds(rule *is)
{
	memset(was_asked, 0, sizeof(was_asked));
	return can_decide(&in) && is(&in);
}

/* Checks that the rule IS does not hold of a block that is larger by MORE bytes, with a pointer
 * FARTHER bytes farther. */
static void check_other_block(rule *is, leakwrap_word more, leakwrap_word farther)
{
	change_block(more, farther);
	CHECK(!holds(is));
	change_block(-more, -farther);
}

/* Checks that the rule IS holds, and COUNT CHANGES of it.  Each byte in turn cannot be read. */
static void check(rule *is, const struct change *changes, size_t count)
{
	CHECK(holds(is));
	for (hole = START; hole < START + BYTES; hole++)
		holds(is);
	hole = 0;
	for (size_t i = 0; i < count; i++) {
		const struct change *const change = &changes[i];
		const uint64_t before = get(change->address, change->size);

		put(change->address, change->size, change->number);
		if (holds(is) != change->holds)
			fprintf(stderr, "change %zu, words of %d bytes\n", i, (int)memory.word);
		CHECK(holds(is) == change->holds);
		put(change->address, change->size, before);
	}
}

#define CHECK_CHANGES(is, ...)                          \
	check(is, (const struct change[]){__VA_ARGS__}, \
	      sizeof((const struct change[]){__VA_ARGS__}) / sizeof(struct change))

#endif
