/* torture_json.c - the report of a torture as JSON, version 1.  Keys are only added. */
#include "tools/render/json_stack.h"
#include "tools/torture/torture_report.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

/* Sets KEY of OBJECT to VALUE, which it takes over. */
static void put(json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new(object, key, value) != 0)
		die("out of memory");
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* Returns the exit status and the signal of STATUS, as of waitpid(2), in a new object. */
static json_t *status_json(int status)
{
	json_t *object = json_object();

	put(object, "exit_status",
	    WIFEXITED(status) ? number((uint64_t)WEXITSTATUS(status)) : json_null());
	put(object, "signal",
	    WIFSIGNALED(status) ? number((uint64_t)WTERMSIG(status)) : json_null());
	return object;
}

static json_t *attempt_json(const struct torture *torture, const struct attempt *attempt)
{
	json_t *object = status_json(attempt->status);
	char identity[24];

	snprintf(identity, sizeof identity, "0x%016" PRIx64, attempt->site->identity);
	put(object, "identity", json_string(identity));
	put(object, "hit", number(attempt->hit));
	put(object, "hits", number(attempt->site->hits));
	put(object, "bytes", attempt->site->bytes ? number(attempt->site->bytes) : json_null());
	put(object, "outcome", json_string(outcome_names[attempt->outcome]));
	put(object, "ns", number(attempt->ns));
	put(object, "engine", json_string(attempt->forked ? "fork" : "rerun"));
	put(object, "frames", stack_json(torture->baseline, attempt->site->stack));
	return object;
}

static json_t *finding_json(const struct torture *torture, const struct finding *finding)
{
	const struct dump *dump = finding->dump ? finding->dump : torture->baseline;
	json_t *object = json_object(), *attempts = json_array();

	put(object, "kind", json_string(finding_names[finding->kind]));
	put(object, "suppressed", json_boolean(finding->suppressed));
	put(object, "bytes", finding->bytes ? number(finding->bytes) : json_null());
	put(object, "blocks", finding->blocks ? number(finding->blocks) : json_null());
	put(object, "misuse",
	    finding->kind == FINDING_MISUSE && dump->misuse && dump->misuse->misuse.what
	            ? json_string(dump->misuse->misuse.what)
	            : json_null());
	put(object, "frames", stack_json(dump, finding->stack));
	/* The numbers of the attempts that led to it, from 0. */
	for (size_t i = 0; i < finding->attempt_count; i++)
		json_array_append_new(attempts,
		                      number((uint64_t)(finding->attempts[i] - torture->attempts)));
	put(object, "attempts", attempts);
	return object;
}

void torture_json(FILE *stream, const struct torture *torture)
{
	json_t *object = json_object(), *command = json_array(), *outcomes = json_object();
	json_t *attempts = json_array(), *findings = json_array();
	json_t *baseline = status_json(torture->baseline_status);

	for (char *const *word = torture->argv; *word; word++)
		json_array_append_new(command,
		                      json_string(*word) ? json_string(*word) : json_null());
	for (unsigned i = 0; i < OUTCOMES; i++)
		put(outcomes, outcome_names[i], number(count_outcomes(torture, (enum outcome)i)));
	for (size_t i = 0; i < torture->attempt_count; i++)
		if (torture->attempts[i].done)
			json_array_append_new(attempts,
			                      attempt_json(torture, &torture->attempts[i]));
	for (size_t i = 0; i < torture->finding_count; i++)
		json_array_append_new(findings, finding_json(torture, &torture->findings[i]));
	put(baseline, "ns", number(torture->baseline_ns));
	put(object, "format", json_string("leakwrap-torture"));
	put(object, "version", number(1));
	put(object, "command", command);
	put(object, "not_forked", number(torture->not_forked));
	put(object, "why_not_forked",
	    torture->why_not_forks ? json_string(torture->why_not_forks) : json_null());
	put(object, "ns", number(torture->ns));
	put(object, "left_out_call_sites", number(torture->left_out));
	put(object, "baseline", baseline);
	put(object, "outcomes", outcomes);
	put(object, "attempts", attempts);
	put(object, "findings", findings);
	json_dumpf(object, stream, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	putc('\n', stream);
	json_decref(object);
}
