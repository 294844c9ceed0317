/* torture_html.c - the report of a torture as one page that needs no network, see
 * torture_report.h.  The page has no script: details elements open and close by themselves. */
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/model/view.h"
#include "tools/torture/torture_report.h"

static const char head[] =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<title>leakwrap torture</title>\n<style>\n"
        "body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; "
        "padding: 0 1em; color: #222; background: #fff; }\n"
        "pre { background: #f4f4f4; padding: .6em 1em; overflow-x: auto; }\n"
        "table { border-collapse: collapse; }\n"
        "td, th { padding: .2em .8em; text-align: left; border-bottom: 1px solid #ddd; }\n"
        "td.n { text-align: right; }\n"
        "h2 { margin-top: 2em; } .place { color: #777; }\n"
        "@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b; } "
        "pre { background: #2a2a2a; } td, th { border-color: #444; } }\n"
        "</style>\n</head>\n<body>\n";

/* Writes the frames of STACK, down to main. */
static void put_frames(FILE *stream, const struct stack *stack)
{
	struct arena scratch = {0};
	unsigned number = 0;
	const unsigned last = frames_to_main(stack);

	fputs("<pre>", stream);
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];

		for (unsigned j = 0; j < at->frame_count && number < last; j++, number++) {
			put_html(stream, frame_name(&scratch, at, &at->frames[j]));
			fputs("  <span class=\"place\">", stream);
			put_html(stream, frame_place(&scratch, at, &at->frames[j]));
			fputs("</span>\n", stream);
		}
	}
	fputs("</pre>\n", stream);
	arena_free(&scratch);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void put_outcomes(FILE *stream, const struct torture *torture)
{
	const size_t findings = count_findings(torture);

	fputs("<h1>", stream);
	for (char *const *word = torture->argv; *word; word++) {
		put_html(stream, *word);
		putc(' ', stream);
	}
	fprintf(stream, "</h1>\n<p>%s finding%s.</p>\n<table>\n", with_commas(findings),
	        plural(findings));
	for (unsigned i = 0; i < OUTCOMES; i++) {
		const size_t count = count_outcomes(torture, (enum outcome)i);

		if (count)
			fprintf(stream, "<tr><td class=\"n\">%s</td><td>%s</td></tr>\n",
			        with_commas(count), outcome_words[i]);
	}
	fputs("</table>\n", stream);
}

static void put_finding(FILE *stream, const struct finding *finding, size_t number)
{
	fprintf(stream, "<h2>%zu. %s", number, finding_names[finding->kind]);
	if (finding->kind == FINDING_LEAK && finding->bytes)
		fprintf(stream, " of %s byte%s", with_commas(finding->bytes),
		        plural(finding->bytes));
	if (finding->kind == FINDING_LEAK)
		fprintf(stream, " in %s block%s", with_commas(finding->blocks),
		        plural(finding->blocks));
	fputs("</h2>\n", stream);
	if (finding->stack)
		put_frames(stream, finding->stack);
	for (size_t i = 0; i < finding->attempt_count; i++) {
		const struct attempt *attempt = finding->attempts[i];

		fprintf(stream,
		        "<details%s><summary>after failed allocation %s at this call site: the "
		        "program %s</summary>\n",
		        i == 0 ? " open" : "", with_commas(attempt->hit),
		        outcome_words[attempt->outcome]);
		put_frames(stream, attempt->site->stack);
		fputs("</details>\n", stream);
	}
}

/* Writes a table of all call sites, in the order in which the program reached them. */
static void put_attempts(FILE *stream, const struct torture *torture)
{
	struct arena scratch = {0};

	fputs("<h2>All failures</h2>\n<table>\n<tr><th>call site</th><th></th><th>allocation</th>"
	      "<th>the program</th></tr>\n",
	      stream);
	for (size_t i = 0; i < torture->attempt_count; i++) {
		const struct attempt *attempt = &torture->attempts[i];
		const struct stack *stack = attempt->site->stack;

		if (!attempt->done || stack->depth == 0)
			continue;
		fputs("<tr><td>", stream);
		put_html(stream, frame_name(&scratch, stack->at[0], &stack->at[0]->frames[0]));
		fputs("</td><td class=\"place\">", stream);
		put_html(stream, frame_place(&scratch, stack->at[0], &stack->at[0]->frames[0]));
		fprintf(stream, "</td><td class=\"n\">%s</td><td>%s</td></tr>\n",
		        with_commas(attempt->hit), outcome_words[attempt->outcome]);
		arena_reset(&scratch);
	}
	fputs("</table>\n", stream);
	arena_free(&scratch);
}

void torture_html(FILE *stream, const struct torture *torture)
{
	size_t number = 0;

	fputs(head, stream);
	put_outcomes(stream, torture);
	for (size_t i = 0; i < torture->finding_count; i++)
		if (!torture->findings[i].suppressed)
			put_finding(stream, &torture->findings[i], ++number);
	put_attempts(stream, torture);
	fputs("</body>\n</html>\n", stream);
}
