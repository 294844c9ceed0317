/* text_title.c - which dump it is, in the report for people, see text_page.h. */
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/model/merge.h"
#include "tools/render/text_page.h"

#include <string.h>

const char *dump_time(struct page *page, const struct dump *dump)
{
	return time_text(page, dump->time);
}

/* Writes the command line of DUMP as a shell would read it. */
static void put_command(struct page *page, const struct dump *dump)
{
	static const char plain[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
	for (size_t i = 0; i < dump->command_count; i++) {
		const char *word = dump->command[i];
		bool quoted = !*word || word[strspn(word, plain)];
		fputs(i ? " " : "  command: ", page->stream);
		if (quoted)
			putc('\'', page->stream);
		for (const char *rest; (rest = strchr(word, '\'')) != NULL; word = rest + 1) {
			put_text(page->stream,
			         arena_copy(&page->scratch, word, (size_t)(rest - word)));
			fputs("'\\''", page->stream);
		}
		put_text(page->stream, word);
		if (quoted)
			putc('\'', page->stream);
	}
	if (dump->command_count)
		putc('\n', page->stream);
}

static void put_merged_title(struct page *page, const struct dump *dump)
{
	const struct merged *merged = dump->merged;
	const char *first = merged->first_time, *last = merged->last_time;

	set_tone(page, TONE_STRONG);
	if (merged->programs > 1)
		fputs(counted(page, merged->programs, "program"), page->stream);
	else
		put_text(page->stream, dump->program ? dump->program : "(unknown program)");
	set_tone(page, TONE_PLAIN);
	fprintf(page->stream, ", the last dumps of %s", counted(page, merged->dumps, "process"));
	if (merged->hosts)
		fprintf(page->stream, " on %s", counted(page, merged->hosts, "host"));
	if (first)
		fprintf(page->stream, ", %.10s %.8s to ", first, first + 11);
	if (first && strncmp(first, last, 10) != 0)
		fprintf(page->stream, "%.10s ", last);
	if (first)
		fprintf(page->stream, "%.8s UTC", last + 11);
	putc('\n', page->stream);
	set_tone(page, TONE_ALERT);
	if (merged->crashed)
		fprintf(page->stream, "  %s crashed\n", counted(page, merged->crashed, "process"));
	if (merged->damaged)
		fprintf(page->stream, "  %s damaged\n",
		        merged->damaged == 1 ? "1 dump is"
		                             : arena_format(&page->scratch, "%s dumps are",
		                                            with_commas(merged->damaged)));
	set_tone(page, TONE_PLAIN);
}

void put_damage(struct page *page, const struct dump *dump)
{
	if (!dump->damage)
		return;
	set_tone(page, TONE_ALERT);
	fprintf(page->stream, "  damaged: line %lu: %s\n", dump->damage_line, dump->damage);
	set_tone(page, TONE_PLAIN);
}

void put_title(struct page *page, const struct dump *dump)
{
	if (dump->merged) {
		put_merged_title(page, dump);
		return;
	}
	static const char *const reasons[][2] = {
	        {"exit", "at exit"},           {"signal", "on signal"},
	        {"api", "on request"},         {"crash", "at a crash"},
	        {"misuse", "of misuse"},       {"threshold", "at a threshold"},
	        {"height", "at a new height"}, {"failure", "at a failed allocation"}};
	const char *reason = "for an unknown reason";
	for (size_t i = 0; dump->reason && i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(dump->reason, reasons[i][0]) == 0)
			reason = reasons[i][1];
	set_tone(page, TONE_STRONG);
	put_text(page->stream, dump->program ? dump->program : "(unknown program)");
	set_tone(page, TONE_PLAIN);
	fprintf(page->stream, ", process %lu, dump %lu %s, %s\n", dump->pid, dump->sequence, reason,
	        dump_time(page, dump));
	put_command(page, dump);
	put_damage(page, dump);
}
