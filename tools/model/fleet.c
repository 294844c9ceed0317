/* fleet.c - see fleet.h.
 *
 * Logs are read one by one, those of one host one after the other.  The dumps of a process are kept
 * until the next log has been read: it may continue the process, as with log=server.%p.%n.  Then
 * they are added to the sum and freed.
 */
#include "tools/model/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"
#include "tools/log/rotated.h"
#include "tools/model/add_log.h"
#include "tools/model/history.h"
#include "tools/model/merge.h"
#include "tools/model/namesakes.h"

/* A process needs few dumps to show its growth. */
enum { DUMPS_KEPT = 16 };

struct source {
	const char *log;
	const char *host; /* interned, or NULL */
	size_t place;     /* of the log in the order of names */
};

/* A process whose dumps are not in the sum yet. */
struct open_process {
	struct namesake namesake; /* first: it has the address of the process */
	size_t log;               /* the number of the last log with a dump of it */
	struct history history;
};

struct fleet {
	struct report *report;
	const struct fleet_options *options;
	struct merger *merger;
	struct open_process **open;
	size_t open_count, open_room;
	struct namesakes namesakes; /* the open processes, which are of one host */
	struct table counted; /* the last dumps of the processes in the sum: &struct identity */
	const char *host;     /* of the open processes, and of the current log */
	size_t log;           /* its number */
};

/* What tells a dump from all others. */
struct identity {
	unsigned long pid, sequence;
	int64_t seconds, bytes, dump_ns;
	const char *program, *host;
};

static bool same_identity(const void *key, const void *entry)
{
	const struct identity *a = key, *b = entry;
	return a->pid == b->pid && a->sequence == b->sequence && a->seconds == b->seconds &&
	       a->bytes == b->bytes && a->dump_ns == b->dump_ns && a->program == b->program &&
	       a->host == b->host;
}

/* -- hosts ------------------------------------------------------------------------------------- */

/* Returns whether PATTERN fits the path LOG.  Sets *HOST and *LENGTH to what %h stands for. */
static bool find_host(const char *pattern, const char *log, const char **host, size_t *length)
{
	if (*pattern == '\0')
		return *log == '\0';
	if (strncmp(pattern, "%h", 2) == 0) {
		/* A host has no slash in its name.  The longest name that fits is taken. */
		for (size_t l = strcspn(log, "/"); l > 0; l--) {
			if (!find_host(pattern + 2, log + l, host, length))
				continue;
			*host = log;
			*length = l;
			return true;
		}
		return false;
	}
	if (*pattern == '*') {
		for (const char *rest = log;; rest++) {
			if (find_host(pattern + 1, rest, host, length))
				return true;
			if (*rest == '\0')
				return false;
		}
	}
	return *pattern == *log && find_host(pattern + 1, log + 1, host, length);
}

/* Logs of one host come together. */
static int compare_sources(const void *left, const void *right)
{
	const struct source *a = left, *b = right;
	if (a->host != b->host)
		return !a->host ? -1 : !b->host ? 1 : strcmp(a->host, b->host);
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Numbers in the names of logs count. */
static int compare_names(const void *left, const void *right)
{
	return strverscmp(*(const char *const *)left, *(const char *const *)right);
}

/* -- processes --------------------------------------------------------------------------------- */

/* Adds PROCESS to the sum, unless the sum has it already, and frees its dumps. */
static void close_process(struct fleet *fleet, struct open_process *process)
{
	const struct history *history = &process->history;
	const struct dump *last = history->dumps[history->count - 1];
	const struct identity identity = {last->pid,
	                                  last->sequence,
	                                  last->seconds,
	                                  last->totals.live_bytes,
	                                  last->totals.dump_ns,
	                                  last->program,
	                                  fleet->host};
	uint64_t hash = hash_word(hash_word(0, last->pid), last->sequence);
	hash = hash_word(hash_word(hash, (uint64_t)last->seconds), (uintptr_t)fleet->host);
	hash = hash_word(hash, (uint64_t)last->totals.live_bytes);
	if (table_find(&fleet->counted, hash, &identity, same_identity)) {
		fleet->report->duplicates++;
	} else {
		struct identity *counted = arena_alloc(&fleet->report->arena, sizeof *counted);
		*counted = identity;
		table_add(&fleet->counted, hash, counted);
		const struct dump_list list = {history->dumps, history->count};
		merge_process(fleet->merger, &list, fleet->host);
	}
	history_free(&process->history);
}

/* Adds PROCESS, whose last dump is LAST, to the open ones. */
static void add_open(struct fleet *fleet, struct open_process *process, const struct dump *last)
{
	add_namesake(&fleet->namesakes, &process->namesake, last);
	GROW(fleet->open, fleet->open_room, fleet->open_count + 1);
	fleet->open[fleet->open_count++] = process;
}

/* Adds the processes to the sum that log BEFORE or a later one does not continue. */
static void close_processes(struct fleet *fleet, size_t before)
{
	const size_t count = fleet->open_count;

	free_namesakes(&fleet->namesakes);
	fleet->open_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct open_process *process = fleet->open[i];
		if (process->log < before) {
			close_process(fleet, process);
			free(process);
		} else {
			add_open(fleet, process, process->namesake.last);
		}
	}
}

/* Returns true if DUMP comes from PROCESS, where the dumps themselves do not show another process.
 * The clock of a process may go back. */
static bool continues(const struct fleet *fleet, const struct open_process *process,
                      const struct dump *dump)
{
	const struct dump *last = process->namesake.last;

	return dump->sequence > last->sequence &&
	       (process->log == fleet->log || dump->sequence == last->sequence + 1 ||
	        seconds_between(dump, last) <= 0);
}

/* Returns the open process that DUMP comes from, which may have no dump yet. */
static struct open_process *process_of(struct fleet *fleet, const struct dump *dump)
{
	/* The dumps of several containers may be mixed. */
	struct open_process *process =
	        (struct open_process *)find_namesake(&fleet->namesakes, dump);

	if (process) {
		const bool goes_on = continues(fleet, process, dump);
		if (!goes_on)
			close_process(fleet, process);
		renew_namesake(&fleet->namesakes, &process->namesake, dump, !goes_on);
	} else {
		process = xzalloc(sizeof *process);
		add_open(fleet, process, dump);
	}
	process->log = fleet->log;
	return process;
}

/* Returns the load bias of the program of PARSED, or 0 if it is not known. */
static uint64_t program_bias(const struct parsed_dump *parsed)
{
	for (size_t i = 0; i < parsed->module_count; i++)
		if (parsed->modules[i].number == 1)
			return parsed->modules[i].bias;
	for (size_t i = 0; i < parsed->frame_count; i++)
		if (parsed->frames[i].module == 1)
			return parsed->frames[i].address - parsed->frames[i].offset;
	return 0;
}

static const struct history no_history;

/* Returns the dumps of the open process that PARSED, a damaged dump, may come from. */
static const struct history *history_of(struct fleet *fleet, const struct parsed_dump *parsed)
{
	const struct module program = {.name = "", .main = true};
	struct mapping mapping = {.module = &program, .bias = program_bias(parsed)};
	const struct dump dump = {.pid = parsed->pid,
	                          .sequence = parsed->sequence,
	                          .program = intern_text(&fleet->report->strings, parsed->program),
	                          .uptime = parsed->uptime,
	                          .mappings = &mapping,
	                          .mapping_count = mapping.bias != 0};
	const struct open_process *process =
	        (const struct open_process *)find_namesake(&fleet->namesakes, &dump);

	return process ? &process->history : &no_history;
}

static void take_dump(void *context, const struct parsed_dump *parsed)
{
	struct fleet *fleet = context;
	struct arena arena = {0};
	const struct history *history = parsed->damage ? history_of(fleet, parsed) : &no_history;
	const struct dump *dump = history_copy(history, fleet->report, parsed, &arena);

	if (dump->damage)
		report_damage(parsed, dump->damage, dump->damage_line);
	history_take(&process_of(fleet, dump)->history, dump, arena,
	             fleet->options->growth ? DUMPS_KEPT : 1);
}

bool fleet_add(struct report *report, const char **logs, size_t count,
               const struct fleet_options *options)
{
	struct fleet fleet = {.report = report, .options = options};
	struct source *sources = xzalloc((count + 1) * sizeof *sources);
	bool *lacks = xzalloc((count + 1) * sizeof *lacks); /* LOGS that hold no dump */
	bool fine = true, has_host = false;

	fleet.merger = merge_start(report, options->kinds);
	qsort(logs, count, sizeof *logs, compare_names);
	sort_rotated(logs, count);
	for (size_t i = 0; i < count; i++) {
		const char *host = NULL;
		size_t length = 0;
		sources[i].log = logs[i];
		sources[i].place = i;
		if (options->hosts && find_host(options->hosts, logs[i], &host, &length))
			sources[i].host = intern(&report->strings, host, length);
		has_host |= sources[i].host != NULL;
	}
	if (options->hosts && !has_host)
		complain("--hosts=%s: no log has such a path", options->hosts);
	qsort(sources, count, sizeof *sources, compare_sources);
	for (fleet.log = 0; fleet.log < count; fleet.log++) {
		if (sources[fleet.log].host != fleet.host)
			close_processes(&fleet, fleet.log);
		fleet.host = sources[fleet.log].host;
		if (fleet.log % 16 == 0)
			progress("reading %zu of %zu logs", fleet.log, count);
		if (!report_read(report, sources[fleet.log].log, take_dump, &fleet))
			fine &= report->lacks_dumps;
		lacks[sources[fleet.log].place] = report->lacks_dumps;
		close_processes(&fleet, fleet.log);
	}
	close_processes(&fleet, count);
	struct dump *sum = merge_finish(fleet.merger, options->growth);
	if (sum->merged->dumps) {
		GROW(report->dumps, report->dump_room, report->dump_count + 1);
		report->dumps[report->dump_count++] = sum;
	}
	free_namesakes(&fleet.namesakes);
	table_free(&fleet.counted);
	free(fleet.open);
	free(sources);
	fine &= !has_log_without_dumps(logs, lacks, count);
	free(lacks);
	progress_done();
	return fine;
}
