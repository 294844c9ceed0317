/* namesakes.c - thousands of processes with one id (tools/model/namesakes.c): a dump is compared
 * with those alone that lie at its place, also after a dump that does not tell the place.
 * sources: tools/model/namesakes.c tools/base/memory.c tools/base/messages.c
 * sources: tools/base/table.c tools/base/text.c
 * flags: -Wl,--wrap=strcmp */
#include "tools/model/namesakes.h"

#include "unit.h"

int __wrap_strcmp(const char *a, const char *b);
int __real_strcmp(const char *a, const char *b);

/* Each comparison of two dumps compares their command lines of one word. */
static size_t comparisons;

int __wrap_strcmp(const char *a, const char *b)
{
	comparisons++;
	return __real_strcmp(a, b);
}

enum { PROCESSES = 5000 };

static const char *words[] = {"/app"};
static struct module program = {.name = "app", .main = true}, library = {.name = "libc.so.6"};

/* A dump, and the places of its modules. */
struct placed {
	struct dump dump;
	struct mapping mappings[2];
};

/* Makes PLACED dump SEQUENCE of process 1 with the first COUNT modules. */
static const struct dump *make_dump(struct placed *placed, unsigned long sequence, size_t count,
                                    uint64_t program_bias, uint64_t library_bias)
{
	placed->mappings[0] = (struct mapping){.module = &program, .bias = program_bias};
	placed->mappings[1] = (struct mapping){.module = &library, .bias = library_bias};
	placed->dump = (struct dump){.pid = 1,
	                             .sequence = sequence,
	                             .command = words,
	                             .command_count = 1,
	                             .mappings = placed->mappings,
	                             .mapping_count = count};
	return &placed->dump;
}

/* The first dumps of the processes tell FIRST_COUNT modules.  Programs that are PIE differ in the
 * place of the program, others in that of the C library. */
static void check(size_t first_count, bool is_pie)
{
	struct namesake *processes = calloc(PROCESSES, sizeof *processes);
	struct placed *dumps = calloc(PROCESSES, 2 * sizeof *dumps);
	struct namesakes namesakes = {0};

	comparisons = 0;
	for (size_t i = 0; i < PROCESSES; i++) {
		const uint64_t place = 0x1000 * (i + 1);
		const uint64_t bias = is_pie ? place : 0;
		const struct dump *first = make_dump(&dumps[2 * i], 1, first_count, bias, place);
		const struct dump *second = make_dump(&dumps[2 * i + 1], 2, 2, bias, place);

		if (first_count > 0)
			CHECK(find_namesake(&namesakes, first) == NULL);
		add_namesake(&namesakes, &processes[i], first);
		CHECK(find_namesake(&namesakes, second) == &processes[i]);
		renew_namesake(&namesakes, &processes[i], second, false);
	}
	for (size_t i = 0; i < PROCESSES; i++)
		CHECK(find_namesake(&namesakes, &dumps[2 * i + 1].dump) == &processes[i]);
	CHECK(comparisons >= PROCESSES && comparisons / 3 <= PROCESSES);
	free_namesakes(&namesakes);
	free(processes);
	free(dumps);
}

/* A process that starts again lies elsewhere, though its first dump does not tell. */
static void check_restart(void)
{
	struct namesake process;
	struct namesakes namesakes = {0};
	struct placed old, first, second;

	add_namesake(&namesakes, &process, make_dump(&old, 1, 2, 0x1000, 0x1000));
	CHECK(find_namesake(&namesakes, make_dump(&first, 1, 0, 0, 0)) == &process);
	renew_namesake(&namesakes, &process, &first.dump, true);
	CHECK(find_namesake(&namesakes, make_dump(&second, 2, 2, 0x2000, 0x2000)) == &process);
	renew_namesake(&namesakes, &process, &second.dump, false);
	CHECK(find_namesake(&namesakes, &old.dump) == NULL);
	free_namesakes(&namesakes);
}

int main(void)
{
	check(2, true);
	check(2, false);
	check(0, true);
	check(0, false);
	check_restart();
	return 0;
}
