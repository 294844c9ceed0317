/* torture_text.c - the report of a torture for people, see torture_report.h. */
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/render/text_page.h"
#include "tools/torture/torture_report.h"

#include <sys/wait.h>

/* The most failed call sites of a finding that are shown. */
enum { SITES_SHOWN = 1 };

static void put_command(const struct page *page, const struct torture *torture)
{
	set_tone(page, TONE_STRONG);
	for (char *const *word = torture->argv; *word; word++) {
		if (word != torture->argv)
			putc(' ', page->stream);
		put_text(page->stream, *word);
	}
	set_tone(page, TONE_PLAIN);
	putc('\n', page->stream);
}

/* Writes how the attempts were made. */
static void put_engines(struct page *page, const struct torture *torture)
{
	size_t done = 0, forked = 0;

	for (size_t i = 0; i < torture->attempt_count; i++) {
		done += torture->attempts[i].done;
		forked += torture->attempts[i].forked;
	}
	fprintf(page->stream, "  %s tried: %s by fork, %s by rerun", counted(page, done, "failure"),
	        with_commas(forked), with_commas(done - forked));
	if (torture->resumed)
		fprintf(page->stream, ", %s of these before", with_commas(torture->resumed));
	fprintf(page->stream, "; %s\n", with_unit_of_time(torture->ns));
	if (torture->left_out)
		fprintf(page->stream, "  %s left out\n",
		        counted(page, torture->left_out, "call site"));
	if (torture->not_forked)
		fprintf(page->stream, "  %s not tried\n",
		        counted(page, torture->not_forked, "failure"));
	if (torture->why_not_forks)
		fprintf(page->stream, "  the program could not fork at some failures: %s\n",
		        torture->why_not_forks);
}

/* Writes what came of all attempts. */
static void put_outcomes(struct page *page, const struct torture *torture)
{
	put_command(page, torture);
	put_engines(page, torture);
	for (unsigned i = 0; i < OUTCOMES; i++) {
		const size_t count = count_outcomes(torture, (enum outcome)i);
		if (count)
			fprintf(page->stream, "  %8s %s\n", with_commas(count), outcome_words[i]);
	}
}

/* Writes the first line of FINDING, which has NUMBER. */
static void put_headline(struct page *page, const struct finding *finding, size_t number)
{
	static const char *const headlines[FINDING_KINDS] = {
	        [FINDING_CRASH] = "crash",
	        [FINDING_ABORT] = "abort",
	        [FINDING_KILLED] = "death of a signal",
	        [FINDING_HANG] = "hang",
	        [FINDING_LEAK] = "leak",
	        [FINDING_MISUSE] = "misuse of the heap",
	};
	const struct dump *dump = finding->dump;

	putc('\n', page->stream);
	set_tone(page, TONE_ALERT);
	fprintf(page->stream, "  #%zu %s", number, headlines[finding->kind]);
	set_tone(page, TONE_PLAIN);
	if (finding->kind == FINDING_CRASH && dump && dump->crash) {
		fputs(", ", page->stream);
		put_text(page->stream, fault_text(&page->scratch, &dump->crash->fault));
	}
	if (finding->kind == FINDING_KILLED)
		fprintf(page->stream, " %d", WTERMSIG(finding->attempts[0]->status));
	if (finding->kind == FINDING_LEAK && finding->bytes)
		fprintf(page->stream, " of %s in %s", counted(page, finding->bytes, "byte"),
		        counted(page, finding->blocks, "block"));
	else if (finding->kind == FINDING_LEAK)
		fprintf(page->stream, " of %s", counted(page, finding->blocks, "block"));
	if (finding->kind == FINDING_MISUSE && dump && dump->misuse)
		fprintf(page->stream, ", %s", misuse_text(&page->scratch, &dump->misuse->misuse));
	putc('\n', page->stream);
}

/* Writes the call sites whose failure led to FINDING. */
static void put_failed_sites(struct page *page, const struct finding *finding)
{
	const size_t shown = page->all_frames ? finding->attempt_count : SITES_SHOWN;

	for (size_t i = 0; i < finding->attempt_count && i < shown; i++) {
		const struct attempt *attempt = finding->attempts[i];

		fputs("    after a failed allocation", page->stream);
		if (attempt->site->bytes)
			fprintf(page->stream, " of up to %s",
			        counted(page, attempt->site->bytes, "byte"));
		if (attempt->hit > 1)
			fprintf(page->stream, ", number %s there", with_commas(attempt->hit));
		fprintf(page->stream, " (%s)\n", outcome_words[attempt->outcome]);
		put_stack(page, attempt->site->stack);
	}
	if (finding->attempt_count > shown)
		fprintf(page->stream, "    and after %s\n",
		        counted(page, finding->attempt_count - shown, "other failure"));
}

static void put_finding(struct page *page, const struct finding *finding, size_t number)
{
	put_headline(page, finding, number);
	if (finding->stack && finding->kind == FINDING_LEAK)
		put_stack(page, finding->stack);
	else if (finding->stack)
		put_frames(page, finding->stack, 0);
	else
		fputs("      (no stack)\n", page->stream);
	arena_reset(&page->scratch);
	put_failed_sites(page, finding);
	arena_reset(&page->scratch);
}

void torture_text(FILE *stream, const struct torture *torture, const struct style *style, bool all)
{
	struct page page = {.stream = stream, .style = style, .all_frames = all};
	const size_t findings = count_findings(torture);
	const size_t suppressed = torture->finding_count - findings;
	size_t number = 0;

	put_outcomes(&page, torture);
	fprintf(stream, "  %s", counted(&page, findings, "finding"));
	if (suppressed)
		fprintf(stream, ", %s suppressed", with_commas(suppressed));
	putc('\n', stream);
	for (size_t i = 0; i < torture->finding_count; i++)
		if (!torture->findings[i].suppressed)
			put_finding(&page, &torture->findings[i], ++number);
	arena_free(&page.scratch);
}
