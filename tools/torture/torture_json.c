/* torture_json.c - the report of a torture as JSON, version 1.  Keys are only added. */
#include "tools/render/json_stack.h"
#include "tools/render/json_text.h"
#include "tools/torture/torture_report.h"

#include <inttypes.h>
#include <sys/wait.h>

/* Returns the exit status and the signal of STATUS, as of waitpid(2), in a new object. */
static json_t *status_json(int status)
{
	json_t *object = json_object();

	set_json(object, "exit_status",
	         WIFEXITED(status) ? number_json((uint64_t)WEXITSTATUS(status)) : json_null());
	set_json(object, "signal",
	         WIFSIGNALED(status) ? number_json((uint64_t)WTERMSIG(status)) : json_null());
	return object;
}

static json_t *attempt_json(const struct torture *torture, const struct attempt *attempt)
{
	json_t *object = status_json(attempt->status);
	char identity[24];

	snprintf(identity, sizeof identity, "0x%016" PRIx64, attempt->site->identity);
	set_json(object, "identity", json_string(identity));
	set_json(object, "hit", number_json(attempt->hit));
	set_json(object, "hits", number_json(attempt->site->hits));
	set_json(object, "bytes",
	         attempt->site->bytes ? number_json(attempt->site->bytes) : json_null());
	set_json(object, "outcome", json_string(outcome_names[attempt->outcome]));
	set_json(object, "ns", number_json(attempt->ns));
	set_json(object, "engine", json_string(attempt->forked ? "fork" : "rerun"));
	set_json(object, "frames", stack_json(torture->baseline, attempt->site->stack));
	return object;
}

static json_t *finding_json(const struct torture *torture, const struct finding *finding)
{
	const struct dump *dump = finding->dump ? finding->dump : torture->baseline;
	json_t *object = json_object(), *attempts = json_array();

	set_json(object, "kind", json_string(finding_names[finding->kind]));
	set_json(object, "suppressed", json_boolean(finding->suppressed));
	set_json(object, "bytes", finding->bytes ? number_json(finding->bytes) : json_null());
	set_json(object, "blocks", finding->blocks ? number_json(finding->blocks) : json_null());
	set_json(object, "misuse",
	         finding->kind == FINDING_MISUSE && dump->misuse && dump->misuse->misuse.what
	                 ? json_string(dump->misuse->misuse.what)
	                 : json_null());
	set_json(object, "frames", stack_json(dump, finding->stack));
	/* The numbers of the attempts that led to it, from 0. */
	for (size_t i = 0; i < finding->attempt_count; i++)
		append_json(attempts,
		            number_json((uint64_t)(finding->attempts[i] - torture->attempts)));
	set_json(object, "attempts", attempts);
	return object;
}

void torture_json(FILE *stream, const struct torture *torture)
{
	json_t *object = json_object(), *command = json_array(), *outcomes = json_object();
	json_t *attempts = json_array(), *findings = json_array();
	json_t *baseline = status_json(torture->baseline_status);

	for (char *const *word = torture->argv; *word; word++)
		append_json(command, text_json(*word));
	for (unsigned i = 0; i < OUTCOMES; i++)
		set_json(outcomes, outcome_names[i],
		         number_json(count_outcomes(torture, (enum outcome)i)));
	for (size_t i = 0; i < torture->attempt_count; i++)
		if (torture->attempts[i].done)
			append_json(attempts, attempt_json(torture, &torture->attempts[i]));
	for (size_t i = 0; i < torture->finding_count; i++)
		append_json(findings, finding_json(torture, &torture->findings[i]));
	set_json(baseline, "ns", number_json(torture->baseline_ns));
	set_json(object, "format", json_string("leakwrap-torture"));
	set_json(object, "version", number_json(1));
	set_json(object, "command", command);
	set_json(object, "not_forked", number_json(torture->not_forked));
	set_json(object, "why_not_forked", text_json(torture->why_not_forks));
	set_json(object, "ns", number_json(torture->ns));
	set_json(object, "left_out_call_sites", number_json(torture->left_out));
	set_json(object, "baseline", baseline);
	set_json(object, "outcomes", outcomes);
	set_json(object, "attempts", attempts);
	set_json(object, "findings", findings);
	put_json(stream, object, 1);
	putc('\n', stream);
}
