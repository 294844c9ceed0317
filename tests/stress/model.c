/* model.c - compares dumps with a model of the heap, see model.h. */
#include "model.h"

#include "leakwrap.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct sum {
	uint64_t bytes, blocks;
};

static struct slot *slots;

_Atomic unsigned long model_foreign_frees;

void model_start(void)
{
	slots = mmap(NULL, SLOTS * sizeof(*slots), PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
}

unsigned model_index(const struct slot *slot)
{
	return (unsigned)(slot - slots);
}

struct slot *model_take(uint64_t random)
{
	for (;; random++) {
		struct slot *slot = &slots[random % SLOTS];

		if (!atomic_exchange_explicit(&slot->taken, 1, memory_order_acquire))
			return slot;
	}
}

void model_give(struct slot *slot)
{
	atomic_store_explicit(&slot->taken, 0, memory_order_release);
}

/* -- reading a dump ---------------------------------------------------------------------------- */

struct dump {
	struct sum total, maker[MAKERS_MAX], jumpy, libraries, other;
	unsigned sites;
	bool ended;
};

static bool starts(const char **text, const char *with)
{
	size_t length = strlen(with);

	if (strncmp(*text, with, length) != 0)
		return false;
	*text += length;
	return true;
}

static struct sum *sum_of(struct dump *dump, const char *function)
{
	size_t length = strcspn(function, "+. \n");

	for (int i = 0; i < MAKERS_MAX && model_makers[i].name; i++)
		if (strlen(model_makers[i].name) == length &&
		    memcmp(function, model_makers[i].name, length) == 0)
			return &dump->maker[i];
	for (int i = 0; model_jumpy[i]; i++)
		if (strlen(model_jumpy[i]) == length &&
		    memcmp(function, model_jumpy[i], length) == 0)
			return &dump->jumpy;
	return &dump->other;
}

static void add(struct sum *sum, struct sum by)
{
	sum->bytes += by.bytes;
	sum->blocks += by.blocks;
}

static void read_line(struct dump *dump, const char *line)
{
	static struct sum site;
	static bool is_library;
	char *end;

	line = strchr(line, ']');
	if (!line)
		return;
	line += 2;
	if (starts(&line, "total live_bytes=")) {
		dump->total.bytes = strtoull(line, &end, 10);
		dump->total.blocks = strtoull(end + strlen(" live_blocks="), NULL, 10);
	} else if (starts(&line, "site ")) {
		if (site.blocks > 0) /* the last call site has no frames */
			add(&dump->other, site);
		line = strchr(line, ':') + 2;
		site.bytes = strtoull(line, &end, 10);
		site.blocks = strtoull(end + strlen(" bytes in "), NULL, 10);
		is_library = strstr(end, " origin=") != NULL;
		dump->sites++;
	} else if (starts(&line, "  #0 ")) {
		line = strchr(line, ' ') + 1;
		add(is_library ? &dump->libraries : sum_of(dump, line), site);
		site = (struct sum){0, 0};
	} else if (starts(&line, "end ")) {
		add(&dump->other, site);
		site = (struct sum){0, 0};
		dump->ended = true;
	}
}

/* Takes a dump by the API into a file in memory, and reads it. */
static bool read_dump(struct dump *dump)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);
	off_t size;
	char *text;

	memset(dump, 0, sizeof(*dump));
	if (fd < 0 || leakwrap_dump(fd) != 0) {
		printf("no dump could be written\n");
		return false;
	}
	size = lseek(fd, 0, SEEK_END);
	text = mmap(NULL, (size_t)size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	for (char *line = text, *end; (end = memchr(line, '\n', (size_t)(text + size - line)));
	     line = end + 1) {
		*end = '\0';
		read_line(dump, line);
	}
	munmap(text, (size_t)size + 1);
	return true;
}

/* -- comparing --------------------------------------------------------------------------------- */

static unsigned differ(const char *when, const char *what, struct sum got, struct sum wanted)
{
	if (got.bytes == wanted.bytes && got.blocks == wanted.blocks)
		return 0;
	printf("%s: %s: the tracer has %llu bytes in %llu blocks, the model %llu in %llu\n", when,
	       what, (unsigned long long)got.bytes, (unsigned long long)got.blocks,
	       (unsigned long long)wanted.bytes, (unsigned long long)wanted.blocks);
	return 1;
}

static unsigned not_zero(const char *when, const char *what, uint64_t value)
{
	if (value != 0)
		printf("%s: %s is %llu\n", when, what, (unsigned long long)value);
	return value != 0;
}

unsigned model_check(bool exact_totals, const char *when)
{
	struct sum wanted[MAKERS_MAX] = {{0, 0}}, all = {0, 0};
	struct leakwrap_counters counters;
	static struct dump dump; /* for the main thread alone, and forked children */
	unsigned differences = 0;

	for (int i = 0; i < SLOTS; i++)
		if (slots[i].block) {
			const struct sum one = {slots[i].size, 1};

			add(&wanted[slots[i].maker], one);
			add(&all, one);
		}
	if (!read_dump(&dump) || leakwrap_get_counters(&counters) != 0)
		return 1;
	if (!dump.ended) {
		printf("%s: the dump has no end\n", when);
		differences++;
	}
	for (int i = 0; i < MAKERS_MAX && model_makers[i].name; i++)
		differences += differ(when, model_makers[i].name, dump.maker[i], wanted[i]);
	differences += not_zero(when, "untracked_blocks", counters.untracked_blocks);
	differences += not_zero(when, "lost_call_sites", counters.lost_call_sites);
	differences += not_zero(when, "freed_elsewhere_blocks", counters.freed_elsewhere_blocks);
	if (exact_totals) {
		differences += differ(when, "the program's other functions", dump.other,
		                      (struct sum){0, 0});
		add(&all, dump.jumpy);
		add(&all, dump.libraries);
		differences += differ(when, "total of the dump", dump.total, all);
		differences += differ(when, "total of the counters",
		                      (struct sum){counters.live_bytes, counters.live_blocks}, all);
		if (counters.foreign_frees != model_foreign_frees) {
			printf("%s: %llu foreign frees, the model has %lu\n", when,
			       (unsigned long long)counters.foreign_frees, model_foreign_frees);
			differences++;
		}
	}
	return differences;
}
