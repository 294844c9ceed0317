/* fuzz_parse.c - libFuzzer's way into the parser and the model: any bytes are a log.
 *
 * The input is split into lines as parse_log does it; what comes out is symbolized without files, and
 * rendered, so that whatever the parser lets through must be harmless to all that follows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "render.h"
#include "symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char path[] = "/tmp/leakwrap-fuzz-XXXXXX";
	static int fd = -1;
	static FILE *null;
	if (fd < 0) {
		fd = mkstemp(path);
		unlink(path);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		null = fopen("/dev/null", "w");
		if (fd < 0 || !null)
			abort();
	}
	if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		return 0;

	struct report report;
	const struct search search = {.sysroot = "/nonexistent"};
	report_start(&report);
	if (report_add(&report, path)) {
		report_finish(&report);
		symbolize(&report, &search);
		struct dump_list list = list_dumps(&report, false);
		struct growths growths = find_growth(&report);
		struct style style = {.width = 80};
		struct answer answer = {.report = &report, .dumps = &list};
		render_text(null, &answer, &style);
		render_json(null, &answer);
		render_folded(null, &answer);
		render_pprof(null, &answer);
		render_html(null, &answer);
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
		free(growths.all);
	}
	report_free(&report);
	return 0;
}
