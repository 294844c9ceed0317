/* judge.c - how a torture judges its runs (tools/torture/judge.c): the outcome of each end, which
 * blocks are leaks, and which findings are one.
 * sources: tools/torture/judge.c tools/model/kinds.c tools/base/memory.c tools/base/messages.c
 * sources: tools/base/numbers.c tools/base/text.c */
#include "tools/torture/torture.h"

#include "unit.h"

#include <signal.h>
#include <string.h>

/* Of tools/log, for parse_kinds alone. */
const char *const reach_names[REACH_NUMBERS] = {"", "", "", "", ""};

/* A status as of waitpid(2). */
#define EXITED(status) ((status) << 8)

enum { FRAMES = 12, STACKS = 40, RUNS = 64, SITES = 4 };

static struct module program = {.name = "app", .main = true}, library = {.name = "libc.so.6"};
static struct location own[FRAMES], foreign[FRAMES];
static struct stack *stacks[STACKS];
static unsigned stack_count;

static struct torture torture;
static struct dump baseline;
static struct site baseline_sites[SITES], sites[RUNS][SITES];
static struct dump *dumps[RUNS];
static const struct dump *misuses[RUNS];
static struct attempt attempts[RUNS];
static struct failure failures[2];
static unsigned run_count;

/* Returns the frame of the program that a lower-case letter stands for, or of a library. */
static const struct location *frame_of(char letter)
{
	const unsigned number = (unsigned)(letter >= 'a' ? letter - 'a' : letter - 'A');

	CHECK(number < FRAMES);
	return letter >= 'a' ? &own[number] : &foreign[number];
}

/* Returns a stack of FRAMES, the innermost first. */
static struct stack *stack_of(const char *frames)
{
	const unsigned depth = (unsigned)strlen(frames);
	struct stack *stack = calloc(1, sizeof *stack + depth * sizeof *stack->at);

	CHECK(stack && stack_count < STACKS);
	stack->depth = depth;
	stack->number = stack_count;
	stacks[stack_count++] = stack;
	for (unsigned i = 0; i < depth; i++)
		stack->at[i] = frame_of(frames[i]);
	return stack;
}

/* Begins a new torture, whose baseline ended with STATUS. */
static void begin(int status)
{
	free(torture.before);
	for (size_t i = 0; i < torture.finding_count; i++)
		free(torture.findings[i].attempts);
	free(torture.findings);
	while (run_count > 0)
		free(dumps[--run_count]);
	while (stack_count > 0)
		free(stacks[--stack_count]);
	memset(attempts, 0, sizeof attempts);
	memset(sites, 0, sizeof sites);
	memset(baseline_sites, 0, sizeof baseline_sites);
	baseline = (struct dump){.pid = 1, .sites = baseline_sites};
	baseline.totals.reach.is_known = true;
	torture = (struct torture){.baseline = &baseline,
	                           .baseline_status = status,
	                           .judges_error_exits = true,
	                           .report = {.dumps = dumps, .misuses = misuses}};
}

/* Returns a new attempt at call site SITE, which ended with STATUS and has a dump. */
static struct attempt *run_at(unsigned site, int status)
{
	struct attempt *attempt = &attempts[run_count];
	struct dump *dump = calloc(1, sizeof *dump);

	CHECK(dump && run_count < RUNS);
	*dump = (struct dump){
	        .pid = 100 + run_count, .injected_failures = 1, .sites = sites[run_count]};
	dump->totals.reach.is_known = true;
	dumps[run_count++] = dump;
	torture.report.dump_count = run_count;
	*attempt = (struct attempt){.site = &failures[site], .done = true, .status = status};
	return attempt;
}

static struct attempt *run(int status)
{
	return run_at(0, status);
}

/* Returns the dump of the last run. */
static struct dump *last_dump(void)
{
	return dumps[run_count - 1];
}

/* Judges ATTEMPT, the last run.  Returns whether it has found anything. */
static bool judge_last(struct attempt *attempt)
{
	return judge(&torture, attempt, run_count - 1, torture.report.misuse_count);
}

/* Adds a call site to DUMP with BLOCKS of 10 bytes each, of kind REACH. */
static struct site *add_site(struct dump *dump, const struct stack *stack, enum reach reach,
                             uint64_t blocks)
{
	struct site *site = &dump->sites[dump->site_count++];

	CHECK(dump->site_count <= SITES);
	site->stack = stack;
	site->blocks = site->reach.blocks[reach] = blocks;
	site->bytes = site->reach.bytes[reach] = 10 * blocks;
	return site;
}

/* Judges a run that crashed with STACK. */
static void crash_at(int signo, const char *frames)
{
	struct attempt *const attempt = run(signo);
	struct crash crash = {.stack = stack_of(frames)};

	last_dump()->crash = &crash;
	CHECK(judge_last(attempt));
}

/* -- outcomes ---------------------------------------------------------------------------------- */

static void check_outcomes(void)
{
	static const struct {
		int status;
		enum outcome outcome;
		int finding; /* or -1 */
	} ends[] = {
	        {EXITED(3), OUTCOME_HANDLED, -1},
	        {EXITED(0), OUTCOME_ERROR_EXIT, -1},
	        {EXITED(1), OUTCOME_ERROR_EXIT, -1},
	        {SIGSEGV, OUTCOME_CRASH, FINDING_CRASH},
	        {SIGBUS, OUTCOME_CRASH, FINDING_CRASH},
	        {SIGILL, OUTCOME_CRASH, FINDING_CRASH},
	        {SIGFPE, OUTCOME_CRASH, FINDING_CRASH},
	        {SIGTRAP, OUTCOME_CRASH, FINDING_CRASH},
	        {SIGABRT, OUTCOME_ABORT, FINDING_ABORT},
	        {SIGKILL, OUTCOME_KILLED, FINDING_KILLED},
	        {SIGTERM, OUTCOME_KILLED, FINDING_KILLED},
	};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		begin(EXITED(3));
		struct attempt *const attempt = run(ends[i].status);

		CHECK(judge_last(attempt) == (ends[i].finding >= 0));
		CHECK(attempt->outcome == ends[i].outcome);
		CHECK(torture.finding_count == (ends[i].finding >= 0));
		CHECK(ends[i].finding < 0 || (int)torture.findings[0].kind == ends[i].finding);
	}
	/* What was ended because it hung died of a signal. */
	begin(0);
	struct attempt *attempt = run(SIGABRT);
	attempt->timed_out = true;
	CHECK(judge_last(attempt) && attempt->outcome == OUTCOME_HANG);
	CHECK(torture.findings[0].kind == FINDING_HANG);

	/* A run that did not come to the call site shows nothing, but a crash is a crash. */
	begin(0);
	attempt = run(EXITED(1));
	last_dump()->injected_failures = 0;
	add_site(last_dump(), stack_of("abc"), REACH_DEFINITE, 1);
	CHECK(!judge_last(attempt) && attempt->outcome == OUTCOME_NOT_REACHED);
	attempt = run(EXITED(1));
	attempt->missed = true; /* as an earlier torture has seen */
	CHECK(!judge_last(attempt) && attempt->outcome == OUTCOME_NOT_REACHED);
	attempt = run(SIGSEGV);
	last_dump()->injected_failures = 0;
	CHECK(judge_last(attempt) && attempt->outcome == OUTCOME_CRASH);
}

/* -- leaks ------------------------------------------------------------------------------------- */

/* Returns how many leaks a run finds that leaves BLOCKS of kind REACH behind, allocated by ORIGIN,
 * where the baseline leaves BEFORE. */
static size_t leaks(enum reach reach, enum origin origin, uint64_t before, uint64_t blocks)
{
	begin(0);
	const struct stack *const stack = stack_of("abc");
	struct attempt *const attempt = run(EXITED(1));

	if (before)
		add_site(&baseline, stack, reach, before)->origin = origin;
	add_site(last_dump(), stack, reach, blocks)->origin = origin;
	CHECK(judge_last(attempt) == (torture.finding_count > 0));
	return torture.finding_count;
}

/* Lost blocks are leaks, of shared libraries those that are certainly lost, of the system's none.
 */
static void check_leaks(void)
{
	CHECK(leaks(REACH_DEFINITE, ORIGIN_PROGRAM, 0, 1) == 1);
	CHECK(torture.findings[0].kind == FINDING_LEAK && torture.findings[0].blocks == 1);
	CHECK(torture.findings[0].bytes == 10);
	CHECK(leaks(REACH_WITHIN, ORIGIN_PROGRAM, 0, 1) == 1);
	CHECK(leaks(REACH_INDIRECT, ORIGIN_PROGRAM, 0, 1) == 0); /* they count at their own site */
	CHECK(leaks(REACH_POSSIBLE, ORIGIN_PROGRAM, 0, 1) == 1);
	CHECK(leaks(REACH_REACHABLE, ORIGIN_PROGRAM, 0, 1) == 0);
	CHECK(leaks(REACH_DEFINITE, ORIGIN_LIBRARY, 0, 1) == 1);
	CHECK(leaks(REACH_WITHIN, ORIGIN_LIBRARY, 0, 1) == 1);
	CHECK(leaks(REACH_POSSIBLE, ORIGIN_LIBRARY, 0, 1) == 0);
	CHECK(leaks(REACH_DEFINITE, ORIGIN_SYSTEM, 0, 1) == 0);

	/* What is more than without failures counts.  Of more blocks nobody knows the bytes. */
	CHECK(leaks(REACH_DEFINITE, ORIGIN_PROGRAM, 3, 3) == 0);
	CHECK(leaks(REACH_DEFINITE, ORIGIN_PROGRAM, 3, 2) == 0);
	CHECK(leaks(REACH_DEFINITE, ORIGIN_PROGRAM, 3, 5) == 1);
	CHECK(torture.findings[0].blocks == 2 && torture.findings[0].bytes == 0);
}

/* Where one of two dumps does not tell lost from reachable blocks, all live blocks count. */
static void check_live_blocks(void)
{
	for (unsigned i = 0; i < 2; i++) {
		begin(0);
		const struct stack *const stack = stack_of("abc"), *const of_library =
		                                                           stack_of("ab");
		struct attempt *const attempt = run(EXITED(1));

		*(i ? &baseline.totals : &last_dump()->totals) = (struct totals){0};
		add_site(&baseline, stack, REACH_REACHABLE, 3);
		add_site(last_dump(), stack, REACH_REACHABLE, 4);
		add_site(last_dump(), of_library, REACH_REACHABLE, 4)->origin = ORIGIN_LIBRARY;
		CHECK(judge_last(attempt));
		CHECK(torture.finding_count == 1 && torture.findings[0].blocks == 1);
	}
}

/* A leak has the blocks of the attempt that lost the most. */
static void check_greatest_leak(void)
{
	static const uint64_t blocks[] = {2, 5, 3};

	begin(0);
	const struct stack *const stack = stack_of("abc");
	for (unsigned i = 0; i < 3; i++) {
		struct attempt *const attempt = run(EXITED(1));
		add_site(last_dump(), stack, REACH_DEFINITE, blocks[i]);
		CHECK(judge_last(attempt));
	}
	CHECK(torture.finding_count == 1 && torture.findings[0].attempt_count == 3);
	CHECK(torture.findings[0].blocks == 5 && torture.findings[0].bytes == 50);

	/* Two leaks of one attempt with the same frames, which differ further out. */
	begin(0);
	struct attempt *const attempt = run(EXITED(1));
	add_site(last_dump(), stack_of("abcde"), REACH_DEFINITE, 1);
	add_site(last_dump(), stack_of("abcdf"), REACH_DEFINITE, 1);
	CHECK(judge_last(attempt));
	CHECK(torture.finding_count == 1 && torture.findings[0].attempt_count == 1);
}

/* --leaks=handled: what is lost after another exit status is no finding. */
static void check_error_exits(void)
{
	for (int status = 0; status < 2; status++) {
		begin(EXITED(0));
		torture.judges_error_exits = false;
		struct attempt *const attempt = run(EXITED(status));
		add_site(last_dump(), stack_of("abc"), REACH_DEFINITE, 1);
		CHECK(judge_last(attempt) == (status == 0));
	}
}

/* -- which dump -------------------------------------------------------------------------------- */

/* The dump is the last dump of the run's own process, or another's if that wrote none. */
static void check_dump_of_process(void)
{
	begin(0);
	struct attempt *const attempt = run(EXITED(0)), *const of_child = run(EXITED(0));
	(void)of_child;
	attempt->pid = (pid_t)dumps[0]->pid;
	CHECK(!judge(&torture, attempt, 0, 0) && attempt->dump == dumps[0]);
	attempt->pid = 0;
	CHECK(!judge(&torture, attempt, 0, 0) && attempt->dump == dumps[1]);
	attempt->pid = 99;
	CHECK(!judge(&torture, attempt, 0, 0) && attempt->dump == dumps[0]);
	CHECK(!judge(&torture, attempt, 2, 0) && attempt->dump == NULL);
}

/* -- equal findings ---------------------------------------------------------------------------- */

/* Returns how many findings two ends by SIGNO with stacks A and B are. */
static size_t findings_of(int signo, const char *a, const char *b)
{
	begin(0);
	crash_at(signo, a);
	crash_at(signo, b);
	return torture.finding_count;
}

static void check_equal_crashes(void)
{
	/* The first four frames of the program decide. */
	CHECK(findings_of(SIGSEGV, "abcde", "abcde") == 1);
	CHECK(findings_of(SIGSEGV, "abcde", "abcdf") == 1);
	CHECK(findings_of(SIGSEGV, "abcde", "abcee") == 2);
	CHECK(findings_of(SIGSEGV, "abc", "abcd") == 2);
	/* Frames of libraries in front of them do not. */
	CHECK(findings_of(SIGSEGV, "Aabcde", "BCabcdf") == 1);
	CHECK(findings_of(SIGSEGV, "Aabcde", "Aabcee") == 2);
	CHECK(findings_of(SIGSEGV, "ABC", "ABD") == 2); /* the program has no frames */
	/* Exceptions that nobody catches abort in the same frames: all frames count. */
	CHECK(findings_of(SIGABRT, "ABabcde", "ABabcde") == 1);
	CHECK(findings_of(SIGABRT, "ABabcde", "ABabcdf") == 2);
	/* A crash is no abort. */
	begin(0);
	crash_at(SIGSEGV, "abc");
	crash_at(SIGABRT, "abc");
	CHECK(torture.finding_count == 2);
}

/* Hangs, and deaths by another signal, are one finding for each call site that failed. */
static void check_equal_hangs(void)
{
	for (int hangs = 0; hangs < 2; hangs++) {
		begin(0);
		for (unsigned i = 0; i < 3; i++) {
			struct attempt *const attempt = run_at(i > 0, SIGTERM);
			attempt->timed_out = hangs;
			CHECK(judge_last(attempt));
		}
		CHECK(torture.finding_count == 2);
		CHECK(torture.findings[0].attempt_count == 1);
		CHECK(torture.findings[1].attempt_count == 2);
	}
}

/* -- misuse ------------------------------------------------------------------------------------ */

static void check_misuse(void)
{
	begin(0);
	struct misused double_free = {.stacks[MISUSE_OFFENDER] = stack_of("abc")};
	struct dump misuse = {.misuse = &double_free};
	struct attempt *attempt = run(SIGABRT);

	/* What the C library does of a double free is no second finding. */
	misuses[torture.report.misuse_count++] = &misuse;
	CHECK(judge(&torture, attempt, run_count - 1, 0));
	CHECK(torture.finding_count == 1 && torture.findings[0].kind == FINDING_MISUSE);
	CHECK(torture.findings[0].dump == &misuse && attempt->outcome == OUTCOME_ABORT);
	/* The next run has no misuse of its own. */
	attempt = run(SIGABRT);
	CHECK(judge_last(attempt));
	CHECK(torture.finding_count == 2 && torture.findings[0].attempt_count == 1);
	/* A leak beside misuse is a finding. */
	attempt = run(EXITED(1));
	add_site(last_dump(), stack_of("cba"), REACH_DEFINITE, 1);
	misuses[torture.report.misuse_count++] = &misuse;
	CHECK(judge(&torture, attempt, run_count - 1, 1));
	CHECK(torture.finding_count == 3 && torture.findings[0].attempt_count == 2);
}

int main(void)
{
	for (unsigned i = 0; i < FRAMES; i++) {
		own[i].module = &program;
		foreign[i].module = &library;
	}
	check_outcomes();
	check_leaks();
	check_live_blocks();
	check_greatest_leak();
	check_error_exits();
	check_dump_of_process();
	check_equal_crashes();
	check_equal_hangs();
	check_misuse();
	begin(0); /* frees all */
	return 0;
}
