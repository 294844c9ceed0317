/* fleet.c - see fleet.h.
 *
 * Logs are read one by one, those of one host one after the other.  The dumps of a process are kept
 * until the next log has been read: it may continue the process, as with log=server.%p.%n.  Then
 * they are added to the sum and freed.
 */
#include "tools/model/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "tools/log/rotated.h"
#include "tools/model/add_log.h"
#include "tools/model/history.h"
#include "tools/model/merge.h"

/* A process needs few dumps to show its growth. */
enum { DUMPS_KEPT = 16 };

struct source {
	const char *log;
	const char *host; /* interned, or NULL */
	size_t place;     /* of the log in the order of names */
};

/* A process whose dumps are not in the sum yet. */
struct open_process {
	unsigned long pid;
	const char *host;
	size_t log; /* the number of the last log with a dump of it */
	struct history history;
};

struct fleet {
	struct report *report;
	const struct fleet_options *options;
	struct merger *merger;
	struct open_process **open;
	size_t open_count, open_room;
	struct table by_pid;
	struct table counted; /* the last dumps of the processes in the sum: &struct identity */
	const char *host;     /* of the current log */
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

bool find_host(const char *pattern, const char *log, const char **host, size_t *length)
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

static bool same_pid(const void *key, const void *entry)
{
	return *(const unsigned long *)key == ((const struct open_process *)entry)->pid;
}

/* Adds PROCESS to the sum, unless the sum has it already, and frees its dumps. */
static void close_process(struct fleet *fleet, struct open_process *process)
{
	const struct history *history = &process->history;
	if (history->count == 0)
		return;
	const struct dump *last = history->dumps[history->count - 1];
	const struct identity identity = {last->pid,
	                                  last->sequence,
	                                  last->seconds,
	                                  last->totals.live_bytes,
	                                  last->totals.dump_ns,
	                                  last->program,
	                                  process->host};
	uint64_t hash = hash_word(hash_word(0, last->pid), last->sequence);
	hash = hash_word(hash_word(hash, (uint64_t)last->seconds), (uintptr_t)process->host);
	hash = hash_word(hash, (uint64_t)last->totals.live_bytes);
	if (table_find(&fleet->counted, hash, &identity, same_identity)) {
		fleet->report->duplicates++;
	} else {
		struct identity *counted = arena_alloc(&fleet->report->arena, sizeof *counted);
		*counted = identity;
		table_add(&fleet->counted, hash, counted);
		const struct dump_list list = {history->dumps, history->count};
		merge_process(fleet->merger, &list, process->host);
	}
	history_free(&process->history);
}

/* Adds the processes to the sum that log BEFORE or a later one does not continue. */
static void close_processes(struct fleet *fleet, size_t before)
{
	size_t kept = 0;

	table_free(&fleet->by_pid);
	for (size_t i = 0; i < fleet->open_count; i++) {
		struct open_process *process = fleet->open[i];
		if (process->log < before) {
			close_process(fleet, process);
			free(process);
			continue;
		}
		fleet->open[kept++] = process;
		table_add(&fleet->by_pid, hash_word(0, process->pid), process);
	}
	fleet->open_count = kept;
}

/* Returns true if PARSED shows its program at another address than LAST. */
static bool is_elsewhere(const struct dump *last, const struct parsed_dump *parsed)
{
	for (size_t i = 0; i < parsed->module_count; i++) {
		const struct parsed_module *module = &parsed->modules[i];
		for (size_t j = 0; module->number == 1 && j < last->mapping_count; j++)
			if (last->mappings[j].module->main)
				return last->mappings[j].bias != module->bias;
	}
	return false;
}

/* Returns true if a dump PARSED of the process id of PROCESS is of PROCESS itself.  In containers
 * many processes have the same id.  The clock of a process may go back. */
static bool continues(const struct fleet *fleet, const struct open_process *process,
                      const struct parsed_dump *parsed)
{
	if (process->history.count == 0)
		return true;
	const struct dump *last = process->history.dumps[process->history.count - 1];
	int64_t seconds;
	if (process->host != fleet->host || parsed->sequence <= last->sequence ||
	    is_elsewhere(last, parsed))
		return false;
	if (last->program && parsed->program && strcmp(last->program, parsed->program) != 0)
		return false;
	if (process->log == fleet->log || parsed->sequence == last->sequence + 1)
		return true;
	return !parsed->time || !parse_time(parsed->time, &seconds) || seconds >= last->seconds;
}

static struct open_process *process_of(struct fleet *fleet, const struct parsed_dump *parsed)
{
	uint64_t hash = hash_word(0, parsed->pid);
	struct open_process *process = table_find(&fleet->by_pid, hash, &parsed->pid, same_pid);
	if (!process) {
		process = xzalloc(sizeof *process);
		process->pid = parsed->pid;
		table_add(&fleet->by_pid, hash, process);
		GROW(fleet->open, fleet->open_room, fleet->open_count + 1);
		fleet->open[fleet->open_count++] = process;
	} else if (!continues(fleet, process, parsed)) {
		close_process(fleet, process);
	}
	process->host = fleet->host;
	process->log = fleet->log;
	return process;
}

static void take_dump(void *context, const struct parsed_dump *parsed)
{
	struct fleet *fleet = context;
	struct open_process *process = process_of(fleet, parsed);
	const struct dump *dump = history_add(&process->history, fleet->report, parsed,
	                                      fleet->options->growth ? DUMPS_KEPT : 1);
	if (dump->damage)
		report_damage(parsed, dump->damage, dump->damage_line);
}

bool fleet_add(struct report *report, const char **logs, size_t count,
               const struct fleet_options *options)
{
	struct fleet fleet = {.report = report, .options = options};
	struct source *sources = xzalloc((count + 1) * sizeof *sources);
	bool fine = true;

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
	}
	qsort(sources, count, sizeof *sources, compare_sources);
	for (fleet.log = 0; fleet.log < count; fleet.log++) {
		fleet.host = sources[fleet.log].host;
		if (fleet.log % 16 == 0)
			progress("reading %zu of %zu logs", fleet.log, count);
		if (!report_read(report, sources[fleet.log].log, take_dump, &fleet))
			fine = false;
		close_processes(&fleet, fleet.log);
	}
	close_processes(&fleet, count);
	struct dump *sum = merge_finish(fleet.merger, options->growth);
	if (sum->merged->dumps) {
		GROW(report->dumps, report->dump_room, report->dump_count + 1);
		report->dumps[report->dump_count++] = sum;
	}
	table_free(&fleet.by_pid);
	table_free(&fleet.counted);
	free(fleet.open);
	free(sources);
	progress_done();
	return fine;
}
