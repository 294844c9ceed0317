/* namesakes.c - see namesakes.h. */
#include "tools/model/namesakes.h"

#include <string.h>

/* -- two dumps --------------------------------------------------------------------------------- */

static bool has_other_command(const struct dump *a, const struct dump *b)
{
	if (a->command_count == 0 || b->command_count == 0)
		return false;
	if (a->command_count != b->command_count)
		return true;
	for (size_t i = 0; i < a->command_count; i++)
		if (strcmp(a->command[i], b->command[i]) != 0)
			return true;
	return false;
}

/* Returns where the program itself lies, or NULL if DUMP does not tell. */
static const struct mapping *program_mapping(const struct dump *dump)
{
	for (size_t i = 0; i < dump->mapping_count; i++)
		if (dump->mappings[i].module->main)
			return &dump->mappings[i];
	return NULL;
}

/* Returns where the C library lies, or NULL if DUMP does not tell. */
static const struct mapping *c_library_mapping(const struct dump *dump)
{
	/* musl's loader is its C library. */
	static const char *const names[] = {"libc.", "libc-2", "ld-musl"};

	for (size_t i = 0; i < dump->mapping_count; i++)
		for (size_t j = 0; j < sizeof names / sizeof *names; j++)
			if (strncmp(dump->mappings[i].module->name, names[j], strlen(names[j])) ==
			    0)
				return &dump->mappings[i];
	return NULL;
}

static bool lie_apart(const struct mapping *a, const struct mapping *b)
{
	return a && b && a->bias != b->bias;
}

/* Returns true if A and B, dumps of one process id, show that they are of different processes.  A
 * plugin that was loaded again may lie elsewhere in one process.  The C library may not. */
static bool is_other_process(const struct dump *a, const struct dump *b)
{
	const struct dump *first = a->sequence < b->sequence ? a : b;
	const struct dump *later = first == a ? b : a;

	if (a->program && b->program && a->program != b->program)
		return true;
	if (first->uptime > 0 && later->uptime > 0 && first->uptime > later->uptime)
		return true;
	return has_other_command(a, b) || lie_apart(program_mapping(a), program_mapping(b)) ||
	       lie_apart(c_library_mapping(a), c_library_mapping(b));
}

/* Returns the place of the process of DUMP in memory, or 0.  Dumps of different places are of
 * different processes.  A program that is no PIE has the bias 0 in each process. */
static uint64_t place_of(const struct dump *dump)
{
	const struct mapping *program = program_mapping(dump);
	const struct mapping *library;

	if (!program || program->bias != 0)
		return program ? program->bias : 0;
	library = c_library_mapping(dump);
	return library ? library->bias : 0;
}

/* -- processes --------------------------------------------------------------------------------- */

/* The processes with an id, or those of them at a place. */
struct chain {
	unsigned long pid;
	bool is_of_place;
	uint64_t place;
	struct namesake *newest;
};

static bool same_chain(const void *key, const void *entry)
{
	const struct chain *a = key, *b = entry;

	return a->pid == b->pid && a->is_of_place == b->is_of_place && a->place == b->place;
}

/* Returns the first of the chain like KEY, which it adds if it is missing. */
static struct namesake **chain_of(struct namesakes *namesakes, struct chain key)
{
	const uint64_t hash = hash_word(hash_word(key.is_of_place, key.pid), key.place);
	struct chain *chain = table_find(&namesakes->chains, hash, &key, same_chain);

	if (!chain) {
		chain = arena_alloc(&namesakes->arena, sizeof *chain);
		*chain = key;
		table_add(&namesakes->chains, hash, chain);
	}
	return &chain->newest;
}

static struct namesake **chain_of_id(struct namesakes *namesakes, unsigned long pid)
{
	return chain_of(namesakes, (struct chain){.pid = pid});
}

static struct namesake **chain_at_place(struct namesakes *namesakes, unsigned long pid,
                                        uint64_t place)
{
	return chain_of(namesakes, (struct chain){pid, true, place, NULL});
}

/* Returns the newest process from NAMESAKE on, of one place, that DUMP may come from, or NULL. */
static struct namesake *find_at_place(struct namesake *namesake, const struct dump *dump)
{
	while (namesake && is_other_process(namesake->last, dump))
		namesake = namesake->older_at_place;
	return namesake;
}

struct namesake *find_namesake(struct namesakes *namesakes, const struct dump *dump)
{
	const uint64_t place = place_of(dump);
	struct namesake *found;

	if (place == 0) {
		found = *chain_of_id(namesakes, dump->pid);
		while (found && is_other_process(found->last, dump))
			found = found->older;
		return found;
	}
	found = find_at_place(*chain_at_place(namesakes, dump->pid, place), dump);
	return found ? found : find_at_place(*chain_at_place(namesakes, dump->pid, 0), dump);
}

/* Adds NAMESAKE, whose last dump is set, to those at PLACE. */
static void add_at_place(struct namesakes *namesakes, struct namesake *namesake, uint64_t place)
{
	struct namesake **newest = chain_at_place(namesakes, namesake->last->pid, place);

	namesake->place = place;
	namesake->older_at_place = *newest;
	*newest = namesake;
}

void add_namesake(struct namesakes *namesakes, struct namesake *new, const struct dump *dump)
{
	struct namesake **newest = chain_of_id(namesakes, dump->pid);

	new->last = dump;
	new->older = *newest;
	*newest = new;
	add_at_place(namesakes, new, place_of(dump));
}

void renew_namesake(struct namesakes *namesakes, struct namesake *namesake, const struct dump *dump,
                    bool is_other)
{
	const uint64_t place = place_of(dump);
	struct namesake **link = chain_at_place(namesakes, dump->pid, namesake->place);

	namesake->last = dump;
	if (place == namesake->place || (namesake->place != 0 && !is_other))
		return;
	while (*link != namesake)
		link = &(*link)->older_at_place;
	*link = namesake->older_at_place;
	add_at_place(namesakes, namesake, place);
}

void free_namesakes(struct namesakes *namesakes)
{
	table_free(&namesakes->chains);
	arena_free(&namesakes->arena);
}
