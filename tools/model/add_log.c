/* add_log.c - see add_log.h. */
#include "tools/model/add_log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
#include "tools/log/read_log.h"
#include "tools/model/copy_dump.h"
#include "tools/model/namesakes.h"
#include "tools/model/store.h"
#include "tools/model/view.h"

/* -- dumps ------------------------------------------------------------------------------------- */

/* Which dumps of a log to take, and what the log has. */
struct selection {
	struct report *report;
	uint64_t pid, sequence;    /* 0: any */
	uint64_t which;            /* of the dumps with PID and SEQUENCE, from 1; 0: all */
	size_t seen, named, taken; /* numbers of dumps */
	uint64_t last_sequence;    /* of the last dump seen */
	dump_taker *take;          /* takes the dumps with live blocks; NULL: REPORT does */
	void *context;             /* of TAKE */
};

static uint64_t dump_hash(const struct dump *dump)
{
	uint64_t hash = hash_word(hash_word(0, dump->pid), dump->sequence);
	hash = hash_word(hash, (uint64_t)dump->seconds);
	for (size_t i = 0; i < dump->site_count; i++) {
		hash = hash_word(hash, dump->sites[i].stack->number);
		hash = hash_word(hash, dump->sites[i].bytes);
		hash = hash_word(hash, dump->sites[i].blocks);
	}
	return hash;
}

static bool same_dump(const void *key, const void *entry)
{
	const struct dump *a = key, *b = entry;
	return a->pid == b->pid && a->sequence == b->sequence && a->seconds == b->seconds &&
	       a->program == b->program && a->totals.live_bytes == b->totals.live_bytes &&
	       a->totals.dump_ns == b->totals.dump_ns && a->site_count == b->site_count &&
	       !a->damage == !b->damage;
}

void report_damage(const struct parsed_dump *parsed, const char *damage, unsigned long line)
{
	int64_t all = parsed->totals.call_sites;
	size_t read = parsed->site_count;
	if (parsed->misused)
		complain("%s:%lu: dump %lu.%lu is damaged: %s", parsed->log, line, parsed->pid,
		         parsed->sequence, damage);
	else if (all >= 0 && (uint64_t)all > read)
		complain("%s:%lu: dump %lu.%lu is damaged: %s; %zu of its %lld call site%s %s "
		         "reported",
		         parsed->log, line, parsed->pid, parsed->sequence, damage, read,
		         (long long)all, all == 1 ? "" : "s", read == 1 ? "is" : "are");
	else
		complain("%s:%lu: dump %lu.%lu is damaged: %s; %zu call site%s reported",
		         parsed->log, line, parsed->pid, parsed->sequence, damage, read,
		         read == 1 ? " is" : "s are");
}

/* Returns true if PARSED is nothing but stray lines. */
static bool is_empty(const struct parsed_dump *parsed)
{
	return parsed->damage && !parsed->program && parsed->site_count == 0 &&
	       parsed->totals.live_bytes < 0 && !parsed->crashed && !parsed->misused;
}

/* Adds DUMP to REPORT, unless REPORT has it already. */
static void add_dump(struct report *report, struct dump *dump)
{
	uint64_t hash = dump_hash(dump);
	struct dump *known = table_find(&report->dump_table, hash, dump, same_dump);
	const struct dump *one = known ? known : dump;
	if (!dump->misuse) {
		report->has_several |= report->latest && report->latest != one;
		report->latest = one;
	}
	if (known) {
		known->chosen |= dump->chosen;
		report->duplicates++;
		return;
	}
	table_add(&report->dump_table, hash, dump);
	if (dump->misuse) {
		GROW(report->misuses, report->misuse_room, report->misuse_count + 1);
		report->misuses[report->misuse_count++] = dump;
	} else {
		store_dump(report, dump);
	}
}

static void take_dump(void *context, const struct parsed_dump *parsed)
{
	struct selection *selection = context;

	selection->seen++;
	selection->last_sequence = parsed->sequence;
	if ((selection->pid && selection->pid != parsed->pid) ||
	    (selection->sequence && selection->sequence != parsed->sequence))
		return;
	if (selection->seen % 64 == 0)
		progress("reading %s: %zu dumps", parsed->log, selection->seen);

	/* leakwrap list has a line for an empty dump, too. */
	selection->named++;
	if (selection->which && selection->which != selection->named)
		return;
	if (is_empty(parsed)) {
		report_damage(parsed, parsed->damage, parsed->damage_line);
		return;
	}
	if (selection->take && !parsed->misused) {
		selection->taken++;
		selection->take(selection->context, parsed);
		return;
	}
	struct dump *dump = copy_dump(selection->report, parsed);
	dump->chosen = selection->sequence != 0;
	if (dump->damage)
		report_damage(parsed, dump->damage, dump->damage_line);
	selection->taken++;
	add_dump(selection->report, dump);
}

/* -- logs -------------------------------------------------------------------------------------- */

/* Splits "LOG@N", "LOG@PID:N" or "LOG@PID:N:K".  Returns the log, which the caller frees.  If a
 * file has such a name, the file is meant. */
static char *split_selector(const char *selector, struct selection *selection)
{
	char *log = xstrdup(selector);
	char *at = strrchr(log, '@');
	if (!at || access(log, F_OK) == 0)
		return log;
	*at++ = '\0';
	char *number = strchr(at, ':'), *which = number ? strchr(number + 1, ':') : NULL;
	if (number)
		*number++ = '\0';
	if (which)
		*which++ = '\0';
	if ((number && !parse_number(at, &selection->pid)) ||
	    !parse_number(number ? number : at, &selection->sequence) || selection->sequence == 0 ||
	    (which && (!parse_number(which, &selection->which) || selection->which == 0)))
		die("%s: what follows @ is the number of a dump, PID:NUMBER, or PID:NUMBER:K",
		    selector);
	return log;
}

/* Reads the log PATH, or standard input for "-".  SELECTOR is what the user named. */
static bool read_selected(const char *path, const char *selector, struct selection *selection)
{
	const char *log = intern_text(&selection->report->strings, log_name(path));
	bool fine = false;

	selection->report->latest = NULL;
	selection->report->has_several = false;
	const char *error = parse_file(path, log, take_dump, selection);
	selection->report->lacks_dumps = !error && selection->seen == 0;
	if (error)
		complain("%s: %s", log, error);
	else if (selection->report->lacks_dumps)
		complain("%s holds no dump", log);
	else if (selection->taken == 0 && selection->which)
		complain("%s holds no dump %s", log, strrchr(selector, '@') + 1);
	else if (selection->taken == 0 && selection->sequence)
		complain("%s holds no dump %s; its last is %llu", log, strrchr(selector, '@') + 1,
		         (unsigned long long)selection->last_sequence);
	else if (selection->taken == 0)
		complain("%s holds no dump that can be read", log);
	else
		fine = true;
	progress_done();
	return fine;
}

bool report_add(struct report *report, const char *selector)
{
	struct selection selection = {.report = report};
	char *path = split_selector(selector, &selection);
	bool fine = read_selected(path, selector, &selection);
	free(path);
	return fine;
}

bool report_read(struct report *report, const char *log, dump_taker *take, void *context)
{
	struct selection selection = {.report = report, .take = take, .context = context};
	return read_selected(log, log, &selection);
}

/* -- processes --------------------------------------------------------------------------------- */

/* A process. */
struct process {
	struct namesake namesake; /* first: it has the address of the process */
	struct dump *last;        /* as in NAMESAKE */
};

/* Returns true if DUMP, met after LAST, comes from the process of LAST, where the dumps themselves
 * do not show another.  A process that counts from 1 again is another one, unless a log has dumps
 * out of order. */
static bool continues(const struct dump *last, const struct dump *dump)
{
	return dump->sequence > last->sequence ||
	       (dump->sequence < last->sequence && dump->log == last->log &&
	        seconds_between(last, dump) <= 0);
}

void report_finish(struct report *report)
{
	struct namesakes processes = {0}; /* struct process */

	for (size_t i = 0; i < report->dump_count; i++) {
		struct dump *dump = report->dumps[i];
		/* The dumps of several containers may be mixed. */
		struct process *process = (struct process *)find_namesake(&processes, dump);

		if (!process || !continues(process->last, dump)) {
			process = arena_alloc(&report->arena, sizeof *process);
			process->last = dump;
			add_namesake(&processes, &process->namesake, dump);
			dump->process = report->process_count++;
			dump->last = true;
			continue;
		}
		dump->process = process->last->process;
		if (dump->sequence < process->last->sequence)
			continue;
		process->last->last = false;
		process->last = dump;
		renew_namesake(&processes, &process->namesake, dump, false);
		dump->last = true;
	}
	free_namesakes(&processes);
}
