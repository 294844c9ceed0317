/* audit.c - the command audit: finds the allocations of a linked program that its reports will
 * lack.  It reads the file and runs nothing.
 */
#include <argp.h>

#include "tools/audit/escapes.h"
#include "tools/audit/finding.h"
#include "tools/audit/quality.h"
#include "tools/audit/shared_libraries.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/command/commands.h"
#include "tools/elf/libraries.h"
#include "tools/elf/program.h"

/* Returns the first shared library of PROGRAM that has the tracer, or NULL. */
static const char *traced_library(const struct program *program)
{
	for (size_t i = 0; i < program->library_count; i++)
		if (library_is_traced(program, program->libraries[i]))
			return program->libraries[i];
	return NULL;
}

static void check_program(struct audit *audit, struct program *program)
{
	const char *library = traced_library(program);

	if (!program->traced && library) {
		print_finding(audit, ESCAPE,
		              arena_format(&audit->arena,
		                           "the tracer is in %s, not in this program", library),
		              "the program's own blocks may be missing",
		              "relink the program alone, by leakwrap cc in the place of LIBS, "
		              "LDFLAGS or the like of a whole project");
		return;
	}
	if (library) {
		const bool covers = program_covers_libraries(program);

		print_finding(audit, covers ? NOTE : QUALITY,
		              arena_format(&audit->arena, "the tracer is in %s, too", library),
		              covers ? "it leaves everything to the program's"
		                     : "two tracers share the calls, and each writes its own dumps",
		              "link it into the program alone, by leakwrap cc in the place of "
		              "LIBS, LDFLAGS or the like of a whole project");
	}
	if (!program->traced) {
		print_finding(audit, ESCAPE,
		              "nothing is wrapped: the tracer is not in this program",
		              "it will never write a dump",
		              "relink with the flags of linker-flags.mk, or by leakwrap cc");
		return;
	}
	if (program->has_symbols)
		check_escapes(audit, program);
	check_quality(audit, program);
	check_libraries(audit, program);
}

/* -- the command ------------------------------------------------------------------------------- */

static enum status audit_file(const char *path, bool strict)
{
	struct audit audit = {0};
	struct program program;

	if (!program_open(&program, path))
		return STATUS_USAGE;
	check_program(&audit, &program);

	size_t escapes = audit.findings[ESCAPE], bad = escapes + audit.findings[QUALITY];
	if (program.traced && program_tells_coverage(&program) && program.shared_libc)
		puts(program_covers_libraries(&program)
		             ? "coverage: the whole process, libraries included"
		             : "coverage: the program's own calls, not those of shared libraries");
	printf("%s: ", path);
	if (program.traced && !program.has_symbols)
		fputs("escapes not searched for", stdout);
	else
		printf("%zu escape%s", escapes, escapes == 1 ? "" : "s");
	printf(", %zu of quality, %zu note%s\n", audit.findings[QUALITY], audit.findings[NOTE],
	       audit.findings[NOTE] == 1 ? "" : "s");
	program_close(&program);
	arena_free(&audit.arena);
	return strict && bad ? STATUS_LEAKS : STATUS_FINE;
}

struct audit_options {
	const char *path;
	bool strict;
};

static error_t parse_audit(int key, char *argument, struct argp_state *state)
{
	struct audit_options *options = state->input;
	switch (key) {
	case 's':
		options->strict = true;
		break;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_error(state, "%s: one argument too many", argument);
		options->path = argument;
		break;
	case ARGP_KEY_END:
		if (!options->path)
			argp_error(state, "EXE is missing");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int command_audit(int argc, char **argv)
{
	static const struct argp_option table[] = {
	        {"strict", 's', 0, 0,
	         "Exit with status 1 when there is an escape or a finding of quality", 0},
	        {0},
	};
	static const struct argp argp = {
	        .options = table,
	        .parser = parse_audit,
	        .args_doc = "EXE",
	        .doc = "Finds the allocations of a relinked program that will not be in its "
	               "reports."
	               "\vEach finding says what was found, what it means for the report, and the "
	               "flag that mends it.  An escape hides allocations, a finding of quality "
	               "makes the report say less, a note is good to know.",
	};
	struct audit_options options = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	return (int)audit_file(options.path, options.strict);
}
