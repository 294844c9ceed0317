/* fuzz_parse.c - the entry of libFuzzer: any bytes are a log.
 *
 * The parser reads the bytes as lines.  The dumps are symbolized without files, and rendered:
 * whatever the parser accepts must harm no later stage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/model/add_log.h"
#include "tools/model/askers.h"
#include "tools/model/kinds.h"
#include "tools/model/merge.h"
#include "tools/model/totals.h"
#include "tools/render/render.h"
#include "tools/symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Symbolizes REPORT without files.  Hides the build-ids meanwhile: those of the C library, which
 * come with the first logs, would load its debug information for each input. */
static void symbolize_without_files(struct report *report)
{
	const struct search nowhere = {.sysroot = "/nonexistent"};
	const char **ids = xmalloc(report->module_count * sizeof *ids);

	for (size_t i = 0; i < report->module_count; i++) {
		ids[i] = report->modules[i]->build_id;
		report->modules[i]->build_id = NULL;
	}
	symbolize(report, &nowhere);
	for (size_t i = 0; i < report->module_count; i++)
		report->modules[i]->build_id = ids[i];
	free(ids);
}

/* Renders ANSWER, of which only some kinds are left. */
static void render_kept(FILE *null, const struct answer *answer)
{
	struct style style = {.width = 80};

	render_text(null, answer, &style);
	render_json(null, answer);
	render_pprof(null, answer);
	render_heap_text(null, answer);
	render_html(null, answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char path[64];
	static int fd = -1;
	static FILE *null;
	if (fd < 0) {
		fd = memfd_create("log", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		null = fopen("/dev/null", "w");
		if (fd < 0 || !null)
			abort();
	}
	if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		return 0;

	struct report report;
	report_start(&report);
	if (report_add(&report, path)) {
		report_finish(&report);
		symbolize_without_files(&report);
		find_askers(&report, &(const struct skips){0});
		struct dump_list list = list_dumps(&report, DUMPS_ALL);
		struct dump_list last = list_dumps(&report, DUMPS_LAST);
		struct growths growths = find_growth(&report, GROUP_NONE);
		struct growths grouped = find_growth(&report, GROUP_FUNCTION);
		struct style style = {.width = 80};
		struct answer answer = {.report = &report, .dumps = &list};
		render_text(null, &answer, &style);
		render_json(null, &answer);
		render_folded(null, &answer);
		render_pprof(null, &answer);
		if (last.count)
			answer.merged = merge_dumps(&report, &last);
		render_html(null, &answer);
		render_text(null, &answer, &style);
		answer.by = GROUP_FUNCTION;
		render_json(null, &answer);
		if (list.count > 1) {
			struct changes changes =
			        compare_dumps(&report, list.all[0], list.all[list.count - 1]);
			struct answer compared = {.report = &report, .changes = &changes};
			render_text(null, &compared, &style);
			render_json(null, &compared);
			render_html(null, &compared);
		}
		struct answer grown = {.report = &report, .growths = &growths};
		render_text(null, &grown, &style);
		grown.growths = &grouped;
		render_text(null, &grown, &style);
		render_json(null, &grown);
		free(growths.all);
		free(grouped.all);
		keep_kinds(&report, 1 + size % KINDS_ALL);
		list = list_dumps(&report, DUMPS_ALL);
		answer.merged = NULL;
		render_kept(null, &answer);
	}
	report_free(&report);
	return 0;
}
