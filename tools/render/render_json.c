/* render_json.c - the report as JSON, version 1.
 *
 * The document is written dump by dump, so that a long series is never in memory as a tree.  Keys
 * are only added, where a dump has more to say (damage, suppressions, sums).  No key is ever
 * removed.
 */
#include "tools/base/memory.h"
#include "tools/model/totals.h"
#include "tools/render/json_stack.h"
#include "tools/render/json_text.h"
#include "tools/render/render.h"

#include <inttypes.h>
#include <stdlib.h>

/* Returns VALUE as a number.  A negative value is not known: null. */
static json_t *count(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
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
		set_json(object, key, number_json(reach->bytes[kind]));
		snprintf(key, sizeof key, "%s_blocks", reach_names[kind]);
		set_json(object, key, number_json(reach->blocks[kind]));
	}
	return object;
}

/* Returns the names of KINDS, a set. */
static json_t *shown_kinds_json(unsigned kinds)
{
	json_t *names = json_array();
	for (unsigned kind = 0; kind < REACHES; kind++)
		if (kinds >> kind & 1)
			append_json(names, json_string(reach_names[kind]));
	return names;
}

/* Adds the keys of ESTIMATE to OBJECT, if the dump had them. */
static void set_estimate(json_t *object, const struct estimate *estimate)
{
	if (estimate->sampled_blocks >= 0) {
		set_json(object, "sampled_blocks", count(estimate->sampled_blocks));
		set_json(object, "live_bytes_error", count(estimate->live_bytes_error));
	}
	if (estimate->allocated_bytes >= 0) {
		set_json(object, "allocated_bytes", count(estimate->allocated_bytes));
		set_json(object, "allocated_blocks", count(estimate->allocated_blocks));
	}
	if (estimate->temporary_blocks >= 0)
		set_json(object, "temporary_blocks", count(estimate->temporary_blocks));
	if (estimate->peak_bytes >= 0) {
		set_json(object, "peak_bytes", count(estimate->peak_bytes));
		set_json(object, "peak_blocks", count(estimate->peak_blocks));
	}
	if (estimate->since_mark_bytes >= 0) {
		set_json(object, "since_mark_bytes", count(estimate->since_mark_bytes));
		set_json(object, "since_mark_blocks", count(estimate->since_mark_blocks));
	}
}

static json_t *totals_json(const struct dump *dump)
{
	const struct totals *totals = &dump->totals;
	json_t *object = json_object();
	set_json(object, "live_bytes", count(totals->live_bytes));
	set_json(object, "live_blocks", count(totals->live_blocks));
	set_json(object, "call_sites", count(totals->call_sites));
	set_json(object, "untracked_blocks", count(totals->untracked_blocks));
	set_json(object, "untracked_bytes", count(totals->untracked_bytes));
	set_json(object, "lost_call_sites", count(totals->lost_call_sites));
	set_json(object, "truncated_blocks", count(totals->truncated_blocks));
	set_json(object, "guessed_blocks", count(totals->guessed_blocks));
	set_json(object, "freed_elsewhere_blocks", count(totals->freed_elsewhere_blocks));
	set_json(object, "foreign_frees", count(totals->foreign_frees));
	if (totals->left_out_blocks >= 0) {
		set_json(object, "left_out_blocks", count(totals->left_out_blocks));
		set_json(object, "left_out_bytes", count(totals->left_out_bytes));
	}
	set_json(object, "kinds",
	         kinds_json(dump->all_kinds ? dump->all_kinds : &totals->reach, false));
	if (totals->reach.is_known) {
		set_json(object, "pause_ns", count(totals->pause_ns));
		set_json(object, "scan_ns", count(totals->scan_ns));
		set_json(object, "scanned", text_json(totals->scanned));
		set_json(object, "heap", text_json(totals->heap));
		set_json(object, "running_threads", count(totals->running_threads));
	}
	set_json(object, "tracer_bytes", count(totals->tracer_bytes));
	set_json(object, "dump_ns", count(totals->dump_ns));
	set_json(object, "complete_stack_bytes_percent",
	         totals->complete_percent < 0 ? json_null() : json_real(totals->complete_percent));
	if (totals->sample_interval > 0)
		set_json(object, "sample_interval", count(totals->sample_interval));
	set_estimate(object, &totals->estimate);
	if (totals->mark_time)
		set_json(object, "mark_time", text_json(totals->mark_time));
	if (totals->peak_time)
		set_json(object, "peak_time", text_json(totals->peak_time));
	if (totals->recording) {
		set_json(object, "recording", json_string(totals->recording));
		set_json(object, "recording_since", text_json(totals->recording_since));
	}
	if (totals->inherited) {
		set_json(object, "inherited_bytes", count(totals->inherited_bytes));
		set_json(object, "inherited_blocks", count(totals->inherited_blocks));
		set_json(object, "inherited", json_string(totals->inherited));
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
			set_json(object, "address",
			         hex_json(addresses ? addresses[i] : raw_address(dump, at)));
			set_json(object, "module", text_json(at->module ? at->module->path : NULL));
			set_json(object, "offset", at->module ? hex_json(at->offset) : json_null());
			set_json(object, "build_id",
			         text_json(at->module ? at->module->build_id : NULL));
			set_json(object, "function", text_json(frame->function));
			set_json(object, "file", text_json(frame->file));
			set_json(object, "line",
			         frame->line ? json_integer(frame->line) : json_null());
			set_json(object, "inlined", json_boolean(frame->inlined));
			append_json(frames, object);
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
	set_json(object, "rank", number_json(site->rank));
	set_json(object, "live_bytes", number_json(site->bytes));
	set_json(object, "live_blocks", number_json(site->blocks));
	set_estimate(object, &site->estimate);
	set_json(object, "stack", json_string(stack_kind_names[site->kind]));
	if (site->task)
		set_json(object, "task", text_json(site->task));
	set_json(object, "kinds", kinds_json(all_kinds_of(site), true));
	set_json(object, "origin", json_string(origin_names[site->origin]));
	if (site->library)
		set_json(object, "library", text_json(site->library->path));
	set_json(object, "asked_by", asked_json(site->stack));
	set_json(object, "frames", frames_json(dump, site->stack, site->addresses));
	return object;
}

static json_t *crash_json(const struct dump *dump)
{
	const struct crash *crash = dump->crash;
	const struct fault *fault = &crash->fault;
	json_t *object = json_object(), *registers = json_object();

	for (size_t i = 0; i < fault->register_count; i++)
		set_json(registers, fault->registers[i].name, hex_json(fault->registers[i].value));
	set_json(object, "signal", fault->told ? json_integer(fault->signal) : json_null());
	set_json(object, "code", fault->told ? json_integer(fault->code) : json_null());
	if (fault->exception)
		set_json(object, "exception", text_json(fault->exception));
	set_json(object, "fault_address",
	         fault->addressed ? hex_json(fault->fault_address) : json_null());
	set_json(object, "thread", fault->thread ? number_json(fault->thread) : json_null());
	if (fault->task)
		set_json(object, "task", text_json(fault->task));
	set_json(object, "registers", registers);
	set_json(object, "frames", frames_json(dump, crash->stack, NULL));
	return object;
}

static json_t *groups_json(struct report *report, const struct dump *dump, enum group_kind by)
{
	struct groups groups = group_dump(&report->arena, dump, by);
	json_t *rows = json_array();
	for (size_t i = 0; i < groups.count; i++) {
		const struct group *group = groups.all[i];
		json_t *row = json_object();
		set_json(row, "name", text_json(group->name));
		set_json(row, "live_bytes", number_json(group->bytes));
		set_json(row, "live_blocks", number_json(group->blocks));
		set_json(row, "call_sites", number_json(group->sites));
		set_json(row, "kinds", kinds_json(&group->all_kinds, true));
		set_json(row, "through_bytes", number_json(group->through_bytes));
		set_json(row, "through_blocks", number_json(group->through_blocks));
		append_json(rows, row);
	}
	free(groups.all);
	json_t *object = json_object();
	set_json(object, "by", json_string(group_kind_names[by]));
	set_json(object, "rows", rows);
	return object;
}

/* Returns the notes of DUMP, its damage, and the modules that could not be verified. */
static json_t *warnings_json(struct report *report, const struct dump *dump)
{
	json_t *warnings = json_array();
	if (dump->damage)
		append_json(warnings,
		            text_json(arena_format(&report->arena, "line %lu: damaged: %s",
		                                   dump->damage_line, dump->damage)));
	for (size_t i = 0; i < dump->note_count; i++)
		append_json(warnings, text_json(dump->notes[i]));
	for (size_t i = 0; i < dump->mapping_count; i++) {
		const struct module *module = dump->mappings[i].module;
		const char *what =
		        module->state == MODULE_UNVERIFIED ? "unverified: no build-id in the dump"
		        : module->state == MODULE_MISMATCH ? "left raw: another build was found"
		        : module->state == MODULE_MISSING  ? "left raw: no file was found"
		                                           : NULL;
		if (what)
			append_json(warnings, text_json(arena_format(&report->arena, "%s: %s",
			                                             module->path, what)));
	}
	return warnings;
}

static void set_warnings(struct report *report, const struct dump *dump, json_t *object)
{
	json_t *warnings = warnings_json(report, dump);
	if (json_array_size(warnings))
		set_json(object, "warnings", warnings);
	else
		json_decref(warnings);
}

static json_t *command_json(const struct dump *dump)
{
	if (dump->command_count == 0)
		return json_null();
	json_t *words = json_array();
	for (size_t i = 0; i < dump->command_count; i++)
		append_json(words, text_json(dump->command[i]));
	return words;
}

/* Returns an object with the keys that identify DUMP. */
static json_t *process_json(const struct dump *dump)
{
	json_t *object = json_object();
	set_json(object, "pid", number_json(dump->pid));
	set_json(object, "sequence", number_json(dump->sequence));
	set_json(object, "reason", text_json(dump->reason));
	set_json(object, "executable", text_json(dump->program));
	set_json(object, "command", command_json(dump));
	set_json(object, "time", text_json(dump->time));
	return object;
}

/* Adds to TOTALS which part of the process DUMP shows. */
static void set_coverage(const struct dump *dump, json_t *totals)
{
	json_t *bypasses = json_array();
	for (size_t i = 0; i < dump->bypass_count; i++) {
		json_t *bypass = json_object();
		set_json(bypass, "reason", text_json(dump->bypasses[i].reason));
		set_json(bypass, "module", text_json(dump->bypasses[i].path));
		append_json(bypasses, bypass);
	}
	set_json(totals, "coverage", text_json(dump->coverage));
	set_json(totals, "bypassed_by", bypasses);
}

/* Returns an object with all keys of DUMP but its call sites. */
static json_t *head_json(struct report *report, const struct dump *dump)
{
	json_t *object = process_json(dump);
	json_t *totals = totals_json(dump);
	set_coverage(dump, totals);
	set_json(object, "totals", totals);
	if (dump->kinds)
		set_json(object, "shown_kinds", shown_kinds_json(dump->kinds));
	set_warnings(report, dump, object);
	if (dump->suppressed_sites) {
		json_t *suppressed = json_object();
		set_json(suppressed, "live_bytes", number_json(dump->suppressed_bytes));
		set_json(suppressed, "live_blocks", number_json(dump->suppressed_blocks));
		set_json(suppressed, "call_sites", number_json(dump->suppressed_sites));
		set_json(suppressed, "kinds", kinds_json(&dump->suppressed_reach, true));
		set_json(object, "suppressed", suppressed);
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
		set_json(site, "identity", hex_json(failure->identity));
		set_json(site, "hit", failure->hits ? number_json(failure->hits) : json_null());
		set_json(site, "bytes", failure->bytes ? number_json(failure->bytes) : json_null());
		set_json(site, "frames", stack_json(dump, failure->stack));
		append_json(sites, site);
	}
	set_json(object, "failures", number_json(dump->injected_failures));
	set_json(object, "call_sites", sites);
	return object;
}

static json_t *misuse_json(struct report *report, const struct dump *dump)
{
	const struct misused *misused = dump->misuse;
	const struct misuse *misuse = &misused->misuse;
	json_t *object = process_json(dump);
	set_json(object, "what", text_json(misuse->what));
	set_json(object, "function", text_json(misuse->function));
	set_json(object, "pointer", misuse->what ? hex_json(misuse->pointer) : json_null());
	set_json(object, "thread", misuse->thread ? number_json(misuse->thread) : json_null());
	set_json(object, "frames", stack_json(dump, misused->stacks[MISUSE_OFFENDER]));
	set_json(object, "released", stack_json(dump, misused->stacks[MISUSE_RELEASE]));
	json_t *block = json_null();
	if (misuse->has[MISUSE_BLOCK]) {
		block = json_object();
		set_json(block, "address", hex_json(misuse->address));
		set_json(block, "bytes", number_json(misuse->bytes));
		set_json(block, "function", text_json(misuse->maker));
		set_json(block, "frames", stack_json(dump, misused->stacks[MISUSE_BLOCK]));
	}
	set_json(object, "block", block);
	set_warnings(report, dump, object);
	return object;
}

/* -- the document ------------------------------------------------------------------------------ */

static void put_dumps(FILE *stream, const struct answer *answer)
{
	fputs("{\"format\":\"leakwrap-report\",\"version\":1,\"dumps\":[", stream);
	for (size_t i = 0; i < answer->dumps->count; i++) {
		const struct dump *dump = answer->dumps->all[i];
		fputs(i ? ",\n" : "\n", stream);
		json_t *head = head_json(answer->report, dump);
		if (dump->crash)
			set_json(head, "crash", crash_json(dump));
		if (dump->injected_failures)
			set_json(head, "injected", injected_json(dump));
		if (answer->by != GROUP_NONE)
			set_json(head, "groups", groups_json(answer->report, dump, answer->by));
		put_open_json(stream, head);
		fputs(",\"call_sites\":[", stream);
		for (size_t j = 0; j < dump->site_count; j++) {
			fputs(j ? ",\n" : "\n", stream);
			put_json(stream, site_json(dump, &dump->sites[j]), 0);
		}
		fputs("]}", stream);
	}
	putc(']', stream);
	for (size_t i = 0; i < answer->report->misuse_count; i++) {
		fputs(i ? ",\n" : ",\"misuses\":[\n", stream);
		put_json(stream, misuse_json(answer->report, answer->report->misuses[i]), 0);
	}
	fputs(answer->report->misuse_count ? "]}\n" : "}\n", stream);
}

/* Sets in OBJECT how exact a difference is, unless it is exact. */
static void set_chance(json_t *object, int64_t bytes_error, bool may_be_chance)
{
	if (bytes_error < 0)
		return;
	set_json(object, "bytes_error", json_integer(bytes_error));
	set_json(object, "may_be_chance", json_boolean(may_be_chance));
}

static void put_changes(FILE *stream, const struct answer *answer)
{
	const struct changes *changes = answer->changes;

	fputs("{\"format\":\"leakwrap-diff\",\"version\":1,\"old\":", stream);
	put_json(stream, head_json(answer->report, changes->old), 0);
	fputs(",\"new\":", stream);
	put_json(stream, head_json(answer->report, changes->new), 0);
	if (changes->bytes_error >= 0)
		fprintf(stream, ",\"bytes_error\":%" PRId64, changes->bytes_error);
	fprintf(stream, ",\"unchanged_call_sites\":%zu,\"uncompared_call_sites\":%zu",
	        changes->unchanged, changes->uncompared);
	fputs(",\"call_sites\":[", stream);
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *change = &changes->all[i];
		json_t *object = json_object();
		set_json(object, "change", json_string(change_name(change)));
		set_json(object, "old_bytes", number_json(change->old_bytes));
		set_json(object, "new_bytes", number_json(change->new_bytes));
		set_json(object, "old_blocks", number_json(change->old_blocks));
		set_json(object, "new_blocks", number_json(change->new_blocks));
		set_chance(object, change->bytes_error, change->may_be_chance);
		if (change->is_least)
			set_json(object, "is_least", json_true());
		set_json(object, "old_kinds", kinds_json(&change->old_reach, true));
		set_json(object, "new_kinds", kinds_json(&change->new_reach, true));
		set_json(object, "asked_by", asked_json(change->stack));
		set_json(object, "frames", frames_json(change->dump, change->stack, NULL));
		fputs(i ? ",\n" : "\n", stream);
		put_json(stream, object, 0);
	}
	fputs("]}\n", stream);
}

/* Returns the bytes of CURVE at the ends of its SPANS. */
static json_t *curve_json(const struct curve *curve, unsigned spans)
{
	json_t *bytes = json_array();
	for (unsigned end = 0; end <= spans; end++)
		append_json(bytes, json_integer(curve->at[end]));
	return bytes;
}

static void put_growths(FILE *stream, const struct answer *answer)
{
	const struct growths *growths = answer->growths;

	fprintf(stream, "{\"format\":\"leakwrap-growth\",\"version\":1,\"series\":%zu,",
	        growths->series);
	fprintf(stream, "\"damaged_dumps\":%zu,\"uncompared_call_sites\":%zu,", growths->damaged,
	        growths->uncompared);
	if (growths->by == GROUP_NONE)
		fputs("\"call_sites\":[", stream);
	else
		fprintf(stream, "\"by\":\"%s\",\"rows\":[", group_kind_names[growths->by]);
	for (size_t i = 0; i < growths->count; i++) {
		const struct growth *growth = &growths->all[i];
		json_t *object = json_object();
		set_json(object, "pid", number_json(growth->last_dump->pid));
		set_json(object, "first_sequence", number_json(growth->first_dump->sequence));
		set_json(object, "last_sequence", number_json(growth->last_dump->sequence));
		set_json(object, "steady_bytes", json_integer(growth->live.steady));
		set_json(object, "steady_lost_bytes",
		         growth->has_kinds ? json_integer(growth->lost.steady) : json_null());
		set_json(object, "first_bytes", number_json(growth->first_bytes));
		set_json(object, "last_bytes", number_json(growth->last_bytes));
		set_json(object, "first_blocks", number_json(growth->first_blocks));
		set_json(object, "last_blocks", number_json(growth->last_blocks));
		set_chance(object, growth->bytes_error, growth->may_be_chance);
		if (growth->is_least)
			set_json(object, "is_least", json_true());
		set_json(object, "first_kinds", kinds_json(&growth->first_reach, true));
		set_json(object, "last_kinds", kinds_json(&growth->last_reach, true));
		set_json(object, "bytes_over_time", curve_json(&growth->live, growth->spans));
		set_json(object, "lost_bytes_over_time",
		         growth->has_kinds ? curve_json(&growth->lost, growth->spans)
		                           : json_null());
		if (growth->stack) {
			set_json(object, "asked_by", asked_json(growth->stack));
			set_json(object, "frames",
			         frames_json(growth->last_dump, growth->stack, NULL));
		} else {
			set_json(object, "name", text_json(growth->name));
		}
		fputs(i ? ",\n" : "\n", stream);
		put_json(stream, object, 0);
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
