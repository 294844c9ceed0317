/* profile.c - see profile.h. */
#include "tools/live/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
#include "tools/base/text.h"
#include "tools/log/read_log.h"
#include "tools/model/kinds.h"

/* -- profiles ---------------------------------------------------------------------------------- */

/* Writes an answer about DUMPS, or about CHANGES. */
static char *render_answer(struct answer answer, void (*render)(FILE *, const struct answer *),
                           size_t *size)
{
	char *bytes = NULL;
	FILE *stream = open_bytes(&bytes, size);
	render(stream, &answer);
	fclose(stream);
	return bytes;
}

static struct dump_list last_of(const struct target *target)
{
	return (struct dump_list){target->history.dumps + target->history.count - 1, 1};
}

char *render_sum(struct report *report, const struct dump *dump,
                 void (*render)(FILE *, const struct answer *), size_t *size)
{
	const struct dump_list list = {&dump, 1};
	const struct answer answer = {.report = report, .dumps = &list};
	return render_answer(answer, render, size);
}

char *render_last(const struct target *target, void (*render)(FILE *, const struct answer *),
                  size_t *size)
{
	return render_sum(target->report, watch_last(target), render, size);
}

char *render_profile(const struct target *target, bool addresses_only, size_t *size)
{
	const struct dump_list list = last_of(target);
	const struct answer answer = {
	        .report = target->report, .dumps = &list, .addresses_only = addresses_only};
	return render_answer(answer, render_pprof, size);
}

char *render_change(struct report *report, const struct dump *old, const struct dump *new,
                    double seconds, void (*render)(FILE *, const struct answer *), size_t *size)
{
	struct arena arena = {0};
	report->dump_arena = &arena;
	const struct changes changes = compare_dumps(report, old, new);
	report->dump_arena = &report->arena;
	const struct answer answer = {.report = report, .changes = &changes, .seconds = seconds};
	char *bytes = render_answer(answer, render, size);
	arena_free(&arena);
	return bytes;
}

char *render_allocs(const struct target *target, size_t *size)
{
	const struct dump_list list = last_of(target);
	const struct answer answer = {
	        .report = target->report, .dumps = &list, .shows_allocated = true};
	return render_answer(answer, render_pprof, size);
}

struct pair {
	struct report *report;
	struct history history;
};

static void take_dump(void *context, const struct parsed_dump *parsed)
{
	struct pair *pair = context;
	if (!parsed->misused && !parsed->damage) /* the watch took no other, and named no other */
		history_add(&pair->history, pair->report, parsed, 2);
}

char *render_difference(const struct target *target, const char *old, size_t old_size,
                        double seconds, void (*render)(FILE *, const struct answer *), size_t *size)
{
	struct pair pair = {.report = target->report};
	char *bytes = NULL;

	parse_text(old, old_size, take_dump, &pair);
	parse_text(target->raw, target->raw_size, take_dump, &pair);
	if (pair.history.count == 2)
		bytes = render_change(pair.report, pair.history.dumps[0], pair.history.dumps[1],
		                      seconds, render, size);
	history_free(&pair.history);
	return bytes;
}

char *render_live(const struct target *target, unsigned seconds, bool data_alone, size_t *size)
{
	const struct dump_list list = {target->history.dumps, target->history.count};
	const struct answer answer = {
	        .report = target->report, .dumps = &list, .live_seconds = seconds};
	return render_answer(answer, data_alone ? render_page_data : render_html, size);
}

char *render_live_sum(struct report *report, const struct dump *dump, unsigned seconds,
                      bool data_alone, size_t *size)
{
	const struct answer answer = {
	        .report = report, .merged = dump, .merged_first = true, .live_seconds = seconds};
	return render_answer(answer, data_alone ? render_page_data : render_html, size);
}

/* Where a location is in a dump. */
struct place {
	uint64_t raw;
	const struct location *location;
};

static bool is_at(const void *key, const void *entry)
{
	return *(const uint64_t *)key == ((const struct place *)entry)->raw;
}

/* Returns the first location at the raw address RAW, or NULL. */
static const struct location *location_at(const struct table *places, uint64_t raw)
{
	const struct place *place = table_find(places, hash_word(0, raw), &raw, is_at);
	return place ? place->location : NULL;
}

/* Makes PLACES, which is empty, a table of the locations of REPORT by their raw addresses in DUMP.
 * Its entries come from ARENA. */
static void index_places(struct table *places, struct arena *arena, const struct report *report,
                         const struct dump *dump)
{
	for (size_t i = 0; i < report->location_count; i++) {
		const struct location *location = report->locations[i];
		if (location->module && !mapping_of(dump, location->module))
			continue; /* of another process */
		const uint64_t raw = raw_address(dump, location);
		if (location_at(places, raw))
			continue;
		struct place *place = arena_alloc(arena, sizeof *place);
		*place = (struct place){raw, location};
		table_add(places, hash_word(0, raw), place);
	}
}

char *render_symbols(const struct target *target, const char *addresses, size_t *size)
{
	struct arena scratch = {0};
	struct table places = {0};
	char *bytes = NULL;
	FILE *stream = open_bytes(&bytes, size);

	if (*addresses)
		index_places(&places, &scratch, target->report, watch_last(target));
	else
		fputs("num_symbols: 1\n", stream);
	for (const char *at = addresses; *at;) {
		char *end;
		uint64_t address = strtoull(at, &end, 16);
		const struct location *location = location_at(&places, address);
		if (!location) /* gperftools asks for the address of the call */
			location = location_at(&places, address + 1);
		if (location) {
			fprintf(stream, "0x%" PRIx64 "\t", address);
			put_text(stream, frame_name(&scratch, location, &location->frames[0]));
			putc('\n', stream);
		}
		at = end + strcspn(end, "+");
		at += *at == '+';
	}
	fclose(stream);
	table_free(&places);
	arena_free(&scratch);
	return bytes;
}

/* -- metrics ----------------------------------------------------------------------------------- */

/* More processes are counted, but have no metrics of their own. */
enum { PROCESSES_MAX = 1000 };

/* Writes TEXT as the value of a label, without what may end it. */
static void put_label(FILE *stream, const char *text)
{
	for (struct character c; *text; text += c.length) {
		c = character_at(text);
		if (!c.is_text)
			putc('?', stream);
		else if (c.code == '"' || c.code == '\\')
			putc('\'', stream);
		else
			fwrite(text, 1, c.length, stream);
	}
}

/* Writes a sample of the metric NAME.  KIND is its kind of memory, or NULL. */
static void put_sample(FILE *stream, const char *name, const struct target *target,
                       const char *kind, double value)
{
	fprintf(stream, "%s{program=\"", name);
	put_label(stream, target->name);
	fprintf(stream, "\",pid=\"%d\"", target->pid);
	if (kind)
		fprintf(stream, ",kind=\"%s\"", kind);
	fprintf(stream, "} %.17g\n", value);
}

/* Writes the metrics of lost and reachable memory of the processes that tell them. */
static void put_kind_metrics(FILE *stream, const struct watch *watch)
{
	static const struct {
		const char *name, *help;
	} metrics[] = {
	        {"leakwrap_kind_bytes", "Live bytes of each kind, lost or reachable."},
	        {"leakwrap_kind_blocks", "Live blocks of each kind."},
	        {"leakwrap_pause_seconds", "How long the process was stopped to tell lost memory."},
	};

	for (unsigned i = 0; i < sizeof metrics / sizeof *metrics; i++) {
		fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n", metrics[i].name, metrics[i].help,
		        metrics[i].name);
		for (size_t j = 0; j < watch->target_count && j < PROCESSES_MAX; j++) {
			const struct target *target = watch->targets[j];
			const struct dump *last = watch_last(target);
			if (target->ended || !last || !last->totals.reach.is_known)
				continue;
			const struct reach_sums *reach = &last->totals.reach;
			for (unsigned kind = 0; kind < REACHES && i < 2; kind++)
				put_sample(stream, metrics[i].name, target, reach_names[kind],
				           i == 0 ? (double)reach->bytes[kind]
				                  : (double)reach->blocks[kind]);
			if (i == 2 && last->totals.pause_ns >= 0)
				put_sample(stream, metrics[i].name, target, NULL,
				           (double)last->totals.pause_ns / 1e9);
		}
	}
}

static double value_of(const struct target *target, unsigned metric)
{
	const struct dump *last = watch_last(target);
	const struct totals *totals = last ? &last->totals : NULL;
	switch (metric) {
	case 0:
		return target->error ? 0 : target->dumps > 0;
	case 1:
		return totals ? (double)totals->live_bytes : -1;
	case 2:
		return totals ? (double)totals->live_blocks : -1;
	case 3:
		return totals ? (double)totals->call_sites : -1;
	case 4:
		return totals ? (double)totals->lost_call_sites : -1;
	case 5:
		return totals ? (double)totals->untracked_blocks : -1;
	case 6:
		return totals ? (double)totals->tracer_bytes : -1;
	case 7:
		return totals && totals->dump_ns >= 0 ? (double)totals->dump_ns / 1e9 : -1;
	case 8:
		return totals ? watch_now() - target->came_at : -1;
	default:
		return target->dumps;
	}
}

char *render_metrics(const struct watch *watch, size_t *size)
{
	static const struct {
		const char *name, *type, *help;
	} metrics[] = {
	        {"leakwrap_up", "gauge", "Whether the last request for a dump led to a whole one."},
	        {"leakwrap_live_bytes", "gauge",
	         "Bytes that the process has allocated and not freed."},
	        {"leakwrap_live_blocks", "gauge", "Blocks that it has allocated and not freed."},
	        {"leakwrap_call_sites", "gauge", "Call sites with live blocks."},
	        {"leakwrap_lost_call_sites_total", "counter", "Backtraces that were not recorded."},
	        {"leakwrap_untracked_blocks_total", "counter",
	         "Allocations that were not recorded."},
	        {"leakwrap_tracer_bytes", "gauge", "Memory that the tracer holds for itself."},
	        {"leakwrap_dump_seconds", "gauge", "How long the process took for its last dump."},
	        {"leakwrap_dump_age_seconds", "gauge", "How old the last dump is."},
	        {"leakwrap_dumps_total", "counter", "Whole dumps that came from the process."},
	};
	char *bytes = NULL;
	FILE *stream = open_bytes(&bytes, size);

	for (unsigned i = 0; i < sizeof metrics / sizeof *metrics; i++) {
		fprintf(stream, "# HELP %s %s\n# TYPE %s %s\n", metrics[i].name, metrics[i].help,
		        metrics[i].name, metrics[i].type);
		for (size_t j = 0; j < watch->target_count && j < PROCESSES_MAX; j++) {
			const struct target *target = watch->targets[j];
			double value = value_of(target, i);
			if (target->ended || value < 0)
				continue;
			put_sample(stream, metrics[i].name, target, NULL, value);
		}
	}
	put_kind_metrics(stream, watch);
	fprintf(stream,
	        "# HELP leakwrap_processes Traced processes.\n# TYPE leakwrap_processes gauge\n"
	        "leakwrap_processes %zu\n",
	        watch->target_count);
	fclose(stream);
	return bytes;
}

/* -- the list ---------------------------------------------------------------------------------- */

char *render_list(const struct watch *watch, size_t *size)
{
	char *bytes = NULL;
	FILE *stream = open_bytes(&bytes, size);

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta http-equiv=\"refresh\" content=\"10\"><title>leakwrap</title>\n"
	      "<style>body{font:14px/1.5 system-ui,sans-serif;margin:2em}td,th{padding:2px 14px;"
	      "text-align:right}td:nth-child(2),th:nth-child(2){text-align:left}</style></head>\n"
	      "<body><h1>Traced processes</h1>\n<table><tr><th>process<th>program<th>lost bytes"
	      "<th>possibly lost<th>live bytes"
	      "<th>blocks<th>call sites<th>dump</tr>\n",
	      stream);
	for (size_t i = 0; i < watch->target_count; i++) {
		const struct target *target = watch->targets[i];
		const struct dump *last = watch_last(target);
		if (target->ended)
			continue;
		fprintf(stream, "<tr><td><a href=\"/process/%d/\">%d</a><td>", target->pid,
		        target->pid);
		put_html(stream, target->name);
		if (last && target->error) {
			fputs(": ", stream);
			put_html(stream, target->error);
		}
		if (last) {
			const struct reach_sums *reach = &last->totals.reach;
			fprintf(stream, "<td>%s",
			        reach->is_known ? with_commas(lost_bytes(reach)) : "");
			fprintf(stream, "<td>%s",
			        reach->is_known ? with_commas(reach->bytes[REACH_POSSIBLE]) : "");
			fprintf(stream, "<td>%s", with_commas((uint64_t)last->totals.live_bytes));
			fprintf(stream, "<td>%s", with_commas((uint64_t)last->totals.live_blocks));
			fprintf(stream, "<td>%s", with_commas((uint64_t)last->totals.call_sites));
			fputs("<td>", stream);
			if (last->totals.dump_ns >= 0)
				fprintf(stream, "%.1f ms", (double)last->totals.dump_ns / 1e6);
		}
		if (!last && target->error) {
			fputs("<td colspan=\"6\">", stream);
			put_html(stream, target->error);
		}
		fputs("</tr>\n", stream);
	}
	fputs("</table>\n<p><a href=\"/all/\">all together</a> "
	      "<a href=\"/metrics\">metrics</a> <a href=\"/dumps\">dumps</a></p></body></html>\n",
	      stream);
	fclose(stream);
	return bytes;
}
