/* render_json.c - the report as JSON, version 1.
 *
 * The document is written dump by dump, so that a long series is never in memory as a tree.  Keys
 * are only added, where a dump has more to say (damage, suppressions, sums).  No key is ever
 * removed.
 */
#include "tools/model/totals.h"
#include "tools/render/json_stack.h"
#include "tools/render/render.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Sets KEY of OBJECT to VALUE, which it takes over.  Ends the tool if there is no memory. */
static void set(json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new(object, key, value) != 0)
		die("out of memory");
}

static void append(json_t *array, json_t *value)
{
	if (!value || json_array_append_new(array, value) != 0)
		die("out of memory");
}

/* Returns VALUE as a string, or null.  Names come from foreign files.  If VALUE is not UTF-8, bytes
 * outside ASCII are written as \xNN. */
static json_t *text(const char *value)
{
	if (!value)
		return json_null();
	json_t *string = json_string(value);
	if (string)
		return string;
	struct arena arena = {0};
	char *escaped = arena_alloc(&arena, 4 * strlen(value) + 1), *p = escaped;
	for (struct character c; *value; value += c.length) {
		c = character_at(value);
		if (c.length == 1 && c.code >= 0x80)
			p += sprintf(p, "\\x%02x", c.code);
		else
			p = mempcpy(p, value, c.length);
	}
	string = json_string(escaped);
	arena_free(&arena);
	return string;
}

/* Returns VALUE as a number.  A negative value is not known: null. */
static json_t *count(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

static json_t *hex(uint64_t value)
{
	char digits[24];
	snprintf(digits, sizeof digits, "0x%" PRIx64, value);
	return json_string(digits);
}

/* Returns the kinds of REACH; null if they are not known.  IS_SITE: of a call site. */
static json_t *kinds_json(const struct reach_sums *reach, bool is_site)
{
	if (!reach->is_known)
		return json_null();
	json_t *object = json_object();
	char key[40];
	for (unsigned kind = 0; kind < (is_site ? REACH_NUMBERS : REACHES); kind++) {
		snprintf(key, sizeof key, "%s_bytes", reach_names[kind]);
		set(object, key, json_integer((json_int_t)reach->bytes[kind]));
		snprintf(key, sizeof key, "%s_blocks", reach_names[kind]);
		set(object, key, json_integer((json_int_t)reach->blocks[kind]));
	}
	return object;
}

/* Returns the names of KINDS, a set. */
static json_t *shown_kinds_json(unsigned kinds)
{
	json_t *names = json_array();
	for (unsigned kind = 0; kind < REACHES; kind++)
		if (kinds >> kind & 1)
			append(names, json_string(reach_names[kind]));
	return names;
}

/* Adds the keys of ESTIMATE to OBJECT, if the dump had them. */
static void set_estimate(json_t *object, const struct estimate *estimate)
{
	if (estimate->sampled_blocks >= 0) {
		set(object, "sampled_blocks", count(estimate->sampled_blocks));
		set(object, "live_bytes_error", count(estimate->live_bytes_error));
	}
	if (estimate->allocated_bytes >= 0) {
		set(object, "allocated_bytes", count(estimate->allocated_bytes));
		set(object, "allocated_blocks", count(estimate->allocated_blocks));
	}
	if (estimate->temporary_blocks >= 0)
		set(object, "temporary_blocks", count(estimate->temporary_blocks));
	if (estimate->peak_bytes >= 0) {
		set(object, "peak_bytes", count(estimate->peak_bytes));
		set(object, "peak_blocks", count(estimate->peak_blocks));
	}
	if (estimate->since_mark_bytes >= 0) {
		set(object, "since_mark_bytes", count(estimate->since_mark_bytes));
		set(object, "since_mark_blocks", count(estimate->since_mark_blocks));
	}
}

static json_t *totals_json(const struct dump *dump)
{
	const struct totals *totals = &dump->totals;
	json_t *object = json_object();
	set(object, "live_bytes", count(totals->live_bytes));
	set(object, "live_blocks", count(totals->live_blocks));
	set(object, "call_sites", count(totals->call_sites));
	set(object, "untracked_blocks", count(totals->untracked_blocks));
	set(object, "untracked_bytes", count(totals->untracked_bytes));
	set(object, "lost_call_sites", count(totals->lost_call_sites));
	set(object, "truncated_blocks", count(totals->truncated_blocks));
	set(object, "freed_elsewhere_blocks", count(totals->freed_elsewhere_blocks));
	set(object, "foreign_frees", count(totals->foreign_frees));
	if (totals->left_out_blocks >= 0) {
		set(object, "left_out_blocks", count(totals->left_out_blocks));
		set(object, "left_out_bytes", count(totals->left_out_bytes));
	}
	set(object, "kinds", kinds_json(dump->all_kinds ? dump->all_kinds : &totals->reach, false));
	if (totals->reach.is_known) {
		set(object, "pause_ns", count(totals->pause_ns));
		set(object, "scan_ns", count(totals->scan_ns));
		set(object, "scanned", text(totals->scanned));
		set(object, "heap", text(totals->heap));
		set(object, "running_threads", count(totals->running_threads));
	}
	set(object, "tracer_bytes", count(totals->tracer_bytes));
	set(object, "dump_ns", count(totals->dump_ns));
	set(object, "complete_stack_bytes_percent",
	    totals->complete_percent < 0 ? json_null() : json_real(totals->complete_percent));
	if (totals->sample_interval > 0)
		set(object, "sample_interval", count(totals->sample_interval));
	set_estimate(object, &totals->estimate);
	if (totals->mark_time)
		set(object, "mark_time", text(totals->mark_time));
	if (totals->peak_time)
		set(object, "peak_time", text(totals->peak_time));
	if (totals->recording) {
		set(object, "recording", json_string(totals->recording));
		set(object, "recording_since", text(totals->recording_since));
	}
	if (totals->inherited) {
		set(object, "inherited_bytes", count(totals->inherited_bytes));
		set(object, "inherited_blocks", count(totals->inherited_blocks));
		set(object, "inherited", json_string(totals->inherited));
	}
	return object;
}

/* Returns the frames of STACK.  ADDRESSES has the raw return address of each, or is NULL. */
static json_t *frames_json(const struct dump *dump, const struct stack *stack,
                           const uint64_t *addresses)
{
	json_t *frames = json_array();
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		for (unsigned j = 0; j < at->frame_count; j++) {
			const struct frame *frame = &at->frames[j];
			json_t *object = json_object();
			set(object, "address",
			    hex(addresses ? addresses[i] : raw_address(dump, at)));
			set(object, "module", text(at->module ? at->module->path : NULL));
			set(object, "offset", at->module ? hex(at->offset) : json_null());
			set(object, "build_id", text(at->module ? at->module->build_id : NULL));
			set(object, "function", text(frame->function));
			set(object, "file", text(frame->file));
			set(object, "line", frame->line ? json_integer(frame->line) : json_null());
			set(object, "inlined", json_boolean(frame->inlined));
			append(frames, object);
		}
	}
	return frames;
}

/* Returns the index of the frame that asked for the memory (askers.h). */
static json_t *asked_json(const struct stack *stack)
{
	return stack->depth ? json_integer(stack->asked) : json_null();
}

static json_t *site_json(const struct dump *dump, const struct site *site)
{
	json_t *object = json_object();
	set(object, "rank", json_integer((json_int_t)site->rank));
	set(object, "live_bytes", json_integer((json_int_t)site->bytes));
	set(object, "live_blocks", json_integer((json_int_t)site->blocks));
	set_estimate(object, &site->estimate);
	set(object, "stack", json_string(stack_kind_names[site->kind]));
	if (site->task)
		set(object, "task", text(site->task));
	set(object, "kinds", kinds_json(all_kinds_of(site), true));
	set(object, "origin", json_string(origin_names[site->origin]));
	if (site->library)
		set(object, "library", text(site->library->path));
	set(object, "asked_by", asked_json(site->stack));
	set(object, "frames", frames_json(dump, site->stack, site->addresses));
	return object;
}

static json_t *crash_json(const struct dump *dump)
{
	const struct crash *crash = dump->crash;
	const struct fault *fault = &crash->fault;
	json_t *object = json_object(), *registers = json_object();

	for (size_t i = 0; i < fault->register_count; i++)
		set(registers, fault->registers[i].name, hex(fault->registers[i].value));
	set(object, "signal", fault->told ? json_integer(fault->signal) : json_null());
	set(object, "code", fault->told ? json_integer((json_int_t)fault->code) : json_null());
	if (fault->exception)
		set(object, "exception", text(fault->exception));
	set(object, "fault_address", fault->addressed ? hex(fault->fault_address) : json_null());
	set(object, "thread",
	    fault->thread ? json_integer((json_int_t)fault->thread) : json_null());
	if (fault->task)
		set(object, "task", text(fault->task));
	set(object, "registers", registers);
	set(object, "frames", frames_json(dump, crash->stack, NULL));
	return object;
}

static json_t *groups_json(struct report *report, const struct dump *dump, enum group_kind by)
{
	struct groups groups = group_dump(&report->arena, dump, by);
	json_t *rows = json_array();
	for (size_t i = 0; i < groups.count; i++) {
		const struct group *group = groups.all[i];
		json_t *row = json_object();
		set(row, "name", text(group->name));
		set(row, "live_bytes", json_integer((json_int_t)group->bytes));
		set(row, "live_blocks", json_integer((json_int_t)group->blocks));
		set(row, "call_sites", json_integer((json_int_t)group->sites));
		set(row, "kinds", kinds_json(&group->all_kinds, true));
		set(row, "through_bytes", json_integer((json_int_t)group->through_bytes));
		set(row, "through_blocks", json_integer((json_int_t)group->through_blocks));
		append(rows, row);
	}
	free(groups.all);
	json_t *object = json_object();
	set(object, "by", json_string(group_kind_names[by]));
	set(object, "rows", rows);
	return object;
}

/* Returns the notes of DUMP, its damage, and the modules that could not be verified. */
static json_t *warnings_json(struct report *report, const struct dump *dump)
{
	json_t *warnings = json_array();
	if (dump->damage)
		append(warnings, text(arena_format(&report->arena, "line %lu: damaged: %s",
		                                   dump->damage_line, dump->damage)));
	for (size_t i = 0; i < dump->note_count; i++)
		append(warnings, text(dump->notes[i]));
	for (size_t i = 0; i < dump->mapping_count; i++) {
		const struct module *module = dump->mappings[i].module;
		const char *what =
		        module->state == MODULE_UNVERIFIED ? "unverified: no build-id in the dump"
		        : module->state == MODULE_MISMATCH ? "left raw: another build was found"
		        : module->state == MODULE_MISSING  ? "left raw: no file was found"
		                                           : NULL;
		if (what)
			append(warnings,
			       text(arena_format(&report->arena, "%s: %s", module->path, what)));
	}
	return warnings;
}

static void set_warnings(struct report *report, const struct dump *dump, json_t *object)
{
	json_t *warnings = warnings_json(report, dump);
	if (json_array_size(warnings))
		set(object, "warnings", warnings);
	else
		json_decref(warnings);
}

static json_t *command_json(const struct dump *dump)
{
	if (dump->command_count == 0)
		return json_null();
	json_t *words = json_array();
	for (size_t i = 0; i < dump->command_count; i++)
		append(words, text(dump->command[i]));
	return words;
}

/* Returns an object with the keys that identify DUMP. */
static json_t *process_json(const struct dump *dump)
{
	json_t *object = json_object();
	set(object, "pid", json_integer((json_int_t)dump->pid));
	set(object, "sequence", json_integer((json_int_t)dump->sequence));
	set(object, "reason", text(dump->reason));
	set(object, "executable", text(dump->program));
	set(object, "command", command_json(dump));
	set(object, "time", text(dump->time));
	return object;
}

/* Adds to TOTALS which part of the process DUMP shows. */
static void set_coverage(const struct dump *dump, json_t *totals)
{
	json_t *bypasses = json_array();
	for (size_t i = 0; i < dump->bypass_count; i++) {
		json_t *bypass = json_object();
		set(bypass, "reason", text(dump->bypasses[i].reason));
		set(bypass, "module", text(dump->bypasses[i].path));
		append(bypasses, bypass);
	}
	set(totals, "coverage", text(dump->coverage));
	set(totals, "bypassed_by", bypasses);
}

/* Returns an object with all keys of DUMP but its call sites. */
static json_t *head_json(struct report *report, const struct dump *dump)
{
	json_t *object = process_json(dump);
	json_t *totals = totals_json(dump);
	set_coverage(dump, totals);
	set(object, "totals", totals);
	if (dump->kinds)
		set(object, "shown_kinds", shown_kinds_json(dump->kinds));
	set_warnings(report, dump, object);
	if (dump->suppressed_sites) {
		json_t *suppressed = json_object();
		set(suppressed, "live_bytes", json_integer((json_int_t)dump->suppressed_bytes));
		set(suppressed, "live_blocks", json_integer((json_int_t)dump->suppressed_blocks));
		set(suppressed, "call_sites", json_integer((json_int_t)dump->suppressed_sites));
		set(suppressed, "kinds", kinds_json(&dump->suppressed_reach, true));
		set(object, "suppressed", suppressed);
	}
	return object;
}

json_t *stack_json(const struct dump *dump, const struct stack *stack)
{
	return stack ? frames_json(dump, stack, NULL) : json_null();
}

/* Returns the allocations of DUMP that were made to fail. */
static json_t *injected_json(const struct dump *dump)
{
	json_t *object = json_object(), *sites = json_array();
	for (size_t i = 0; i < dump->failure_count; i++) {
		const struct failure *failure = &dump->failures[i];
		if (failure->only_reached)
			continue;
		json_t *site = json_object();
		set(site, "identity", hex(failure->identity));
		set(site, "hit",
		    failure->hits ? json_integer((json_int_t)failure->hits) : json_null());
		set(site, "bytes",
		    failure->bytes ? json_integer((json_int_t)failure->bytes) : json_null());
		set(site, "frames", stack_json(dump, failure->stack));
		append(sites, site);
	}
	set(object, "failures", json_integer((json_int_t)dump->injected_failures));
	set(object, "call_sites", sites);
	return object;
}

static json_t *misuse_json(struct report *report, const struct dump *dump)
{
	const struct misused *misused = dump->misuse;
	const struct misuse *misuse = &misused->misuse;
	json_t *object = process_json(dump);
	set(object, "what", text(misuse->what));
	set(object, "function", text(misuse->function));
	set(object, "pointer", misuse->what ? hex(misuse->pointer) : json_null());
	set(object, "thread",
	    misuse->thread ? json_integer((json_int_t)misuse->thread) : json_null());
	set(object, "frames", stack_json(dump, misused->stacks[MISUSE_OFFENDER]));
	set(object, "released", stack_json(dump, misused->stacks[MISUSE_RELEASE]));
	json_t *block = json_null();
	if (misuse->has[MISUSE_BLOCK]) {
		block = json_object();
		set(block, "address", hex(misuse->address));
		set(block, "bytes", json_integer((json_int_t)misuse->bytes));
		set(block, "function", text(misuse->maker));
		set(block, "frames", stack_json(dump, misused->stacks[MISUSE_BLOCK]));
	}
	set(object, "block", block);
	set_warnings(report, dump, object);
	return object;
}

/* -- the document ------------------------------------------------------------------------------ */

/* Writes OBJECT but for its last LEFT_OUT bytes, and frees it.  Characters that are
 * no text are escaped, because they may go to a terminal. */
static void put_part(FILE *stream, json_t *object, size_t left_out)
{
	char *string = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
	if (!string)
		die("out of memory");
	string[strlen(string) - left_out] = '\0';
	for (const char *rest = string; *rest;) {
		size_t span = text_span(rest);
		fwrite(rest, 1, span, stream);
		rest += span;
		if (*rest) {
			struct character c = character_at(rest);
			fprintf(stream, "\\u%04x", c.code);
			rest += c.length;
		}
	}
	free(string);
	json_decref(object);
}

static void put(FILE *stream, json_t *value)
{
	put_part(stream, value, 0);
}

/* Writes OBJECT without its closing brace, so that more keys can follow. */
static void put_open(FILE *stream, json_t *object)
{
	put_part(stream, object, 1);
}

static void put_dumps(FILE *stream, const struct answer *answer)
{
	fputs("{\"format\":\"leakwrap-report\",\"version\":1,\"dumps\":[", stream);
	for (size_t i = 0; i < answer->dumps->count; i++) {
		const struct dump *dump = answer->dumps->all[i];
		fputs(i ? ",\n" : "\n", stream);
		json_t *head = head_json(answer->report, dump);
		if (dump->crash)
			set(head, "crash", crash_json(dump));
		if (dump->injected_failures)
			set(head, "injected", injected_json(dump));
		if (answer->by != GROUP_NONE)
			set(head, "groups", groups_json(answer->report, dump, answer->by));
		put_open(stream, head);
		fputs(",\"call_sites\":[", stream);
		for (size_t j = 0; j < dump->site_count; j++) {
			fputs(j ? ",\n" : "\n", stream);
			put(stream, site_json(dump, &dump->sites[j]));
		}
		fputs("]}", stream);
	}
	putc(']', stream);
	for (size_t i = 0; i < answer->report->misuse_count; i++) {
		fputs(i ? ",\n" : ",\"misuses\":[\n", stream);
		put(stream, misuse_json(answer->report, answer->report->misuses[i]));
	}
	fputs(answer->report->misuse_count ? "]}\n" : "}\n", stream);
}

/* Sets in OBJECT how exact a difference is, unless it is exact. */
static void set_chance(json_t *object, int64_t bytes_error, bool may_be_chance)
{
	if (bytes_error < 0)
		return;
	set(object, "bytes_error", json_integer(bytes_error));
	set(object, "may_be_chance", json_boolean(may_be_chance));
}

static void put_changes(FILE *stream, const struct answer *answer)
{
	const struct changes *changes = answer->changes;

	fputs("{\"format\":\"leakwrap-diff\",\"version\":1,\"old\":", stream);
	put(stream, head_json(answer->report, changes->old));
	fputs(",\"new\":", stream);
	put(stream, head_json(answer->report, changes->new));
	if (changes->bytes_error >= 0)
		fprintf(stream, ",\"bytes_error\":%" PRId64, changes->bytes_error);
	fprintf(stream, ",\"unchanged_call_sites\":%zu,\"call_sites\":[", changes->unchanged);
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *change = &changes->all[i];
		json_t *object = json_object();
		set(object, "change", json_string(change_name(change)));
		set(object, "old_bytes", json_integer((json_int_t)change->old_bytes));
		set(object, "new_bytes", json_integer((json_int_t)change->new_bytes));
		set(object, "old_blocks", json_integer((json_int_t)change->old_blocks));
		set(object, "new_blocks", json_integer((json_int_t)change->new_blocks));
		set_chance(object, change->bytes_error, change->may_be_chance);
		set(object, "old_kinds", kinds_json(&change->old_reach, true));
		set(object, "new_kinds", kinds_json(&change->new_reach, true));
		set(object, "asked_by", asked_json(change->stack));
		set(object, "frames", frames_json(change->dump, change->stack, NULL));
		fputs(i ? ",\n" : "\n", stream);
		put(stream, object);
	}
	fputs("]}\n", stream);
}

/* Returns the bytes of CURVE at the ends of its SPANS. */
static json_t *curve_json(const struct curve *curve, unsigned spans)
{
	json_t *bytes = json_array();
	for (unsigned end = 0; end <= spans; end++)
		append(bytes, json_integer(curve->at[end]));
	return bytes;
}

static void put_growths(FILE *stream, const struct answer *answer)
{
	const struct growths *growths = answer->growths;

	fprintf(stream, "{\"format\":\"leakwrap-growth\",\"version\":1,\"series\":%zu,",
	        growths->series);
	if (growths->by == GROUP_NONE)
		fputs("\"call_sites\":[", stream);
	else
		fprintf(stream, "\"by\":\"%s\",\"rows\":[", group_kind_names[growths->by]);
	for (size_t i = 0; i < growths->count; i++) {
		const struct growth *growth = &growths->all[i];
		json_t *object = json_object();
		set(object, "pid", json_integer((json_int_t)growth->last_dump->pid));
		set(object, "first_sequence",
		    json_integer((json_int_t)growth->first_dump->sequence));
		set(object, "last_sequence", json_integer((json_int_t)growth->last_dump->sequence));
		set(object, "steady_bytes", json_integer(growth->live.steady));
		set(object, "steady_lost_bytes",
		    growth->has_kinds ? json_integer(growth->lost.steady) : json_null());
		set(object, "first_bytes", json_integer((json_int_t)growth->first_bytes));
		set(object, "last_bytes", json_integer((json_int_t)growth->last_bytes));
		set(object, "first_blocks", json_integer((json_int_t)growth->first_blocks));
		set(object, "last_blocks", json_integer((json_int_t)growth->last_blocks));
		set_chance(object, growth->bytes_error, growth->may_be_chance);
		set(object, "first_kinds", kinds_json(&growth->first_reach, true));
		set(object, "last_kinds", kinds_json(&growth->last_reach, true));
		set(object, "bytes_over_time", curve_json(&growth->live, growth->spans));
		set(object, "lost_bytes_over_time",
		    growth->has_kinds ? curve_json(&growth->lost, growth->spans) : json_null());
		if (growth->stack) {
			set(object, "asked_by", asked_json(growth->stack));
			set(object, "frames", frames_json(growth->last_dump, growth->stack, NULL));
		} else {
			set(object, "name", text(growth->name));
		}
		fputs(i ? ",\n" : "\n", stream);
		put(stream, object);
	}
	fputs("]}\n", stream);
}

void render_json(FILE *stream, const struct answer *answer)
{
	if (answer->dumps)
		put_dumps(stream, answer);
	else if (answer->changes)
		put_changes(stream, answer);
	else
		put_growths(stream, answer);
}
