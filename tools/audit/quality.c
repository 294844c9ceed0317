/* quality.c - see quality.h. */
#include "tools/audit/quality.h"

#include <elf.h>

#include "tools/base/numbers.h"
#include "tools/elf/unwind_tables.h"

/* Every program has a few functions in assembly, without unwind tables.  It is a finding if more
 * than one function in UNTABLED_SHARE has none. */
enum { UNTABLED_SHARE = 10 };

static void check_tables(struct audit *audit, const struct program *program)
{
	struct untabled untabled;

	if (!calls_are_known(program->machine)) {
		print_finding(audit, QUALITY, "stacks of this machine are not walked",
		              "a call site is the caller of the allocating function alone",
		              "-finstrument-functions and LEAKWRAP_OPTIONS=unwind=instrument");
		return;
	}
	untabled_find(&untabled, program, &audit->arena);
	if (!untabled.main && untabled.count <= untabled.functions / UNTABLED_SHARE)
		return;
	print_finding(audit, NOTE,
	              arena_format(&audit->arena,
	                           "%s of %s functions have no unwind tables: %s%s%s",
	                           with_commas(untabled.count), with_commas(untabled.functions),
	                           !untabled.main   ? ""
	                           : untabled.names ? "main, "
	                                            : "main",
	                           untabled.names ? untabled.names : "",
	                           untabled.count > 4 ? ", ..." : ""),
	              "the walk reads their code instead: stacks are complete where the code is "
	              "clear, guessed where it is not",
	              "-funwind-tables, where you compile them yourself");
}

void check_quality(struct audit *audit, const struct program *program)
{
	bool arm = program->machine == EM_ARM;

	if (program->has_eh_frame && !program->has_eh_frame_hdr && !arm)
		print_finding(
		        audit, QUALITY, "there is no .eh_frame_hdr",
		        "the walk cannot find the unwind tables: stacks will be short or guessed",
		        "-Wl,--eh-frame-hdr");
	if (!program->has_symbols)
		print_finding(audit, QUALITY, "the symbol table is stripped",
		              "the dump names no functions, and this audit cannot tell which "
		              "calls escape",
		              "do not strip; or audit the unstripped file, and keep it for "
		              "leakwrap report --exe");
	if (program->has_symbols)
		check_tables(audit, program);
	if (!program->has_build_id)
		print_finding(audit, NOTE, "there is no build-id",
		              "a report cannot verify that it reads the symbols of this very build",
		              "-Wl,--build-id");
}
