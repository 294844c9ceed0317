/* judge.c - from how a run has ended to its outcome and its findings, see torture.h. */
#include "tools/base/memory.h"
#include "tools/torture/torture.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/model/kinds.h"

const char *const outcome_names[OUTCOMES] = {
        [OUTCOME_HANDLED] = "handled",
        [OUTCOME_ERROR_EXIT] = "error_exit",
        [OUTCOME_CRASH] = "crash",
        [OUTCOME_ABORT] = "abort",
        [OUTCOME_KILLED] = "killed",
        [OUTCOME_HANG] = "hang",
        [OUTCOME_NOT_REACHED] = "not_reached",
};

const char *const outcome_words[OUTCOMES] = {
        [OUTCOME_HANDLED] = "went on",
        [OUTCOME_ERROR_EXIT] = "ended with another status",
        [OUTCOME_CRASH] = "crashed",
        [OUTCOME_ABORT] = "aborted",
        [OUTCOME_KILLED] = "died of another signal",
        [OUTCOME_HANG] = "did not end in time",
        [OUTCOME_NOT_REACHED] = "did not come to the call site",
};

const char *const finding_names[FINDING_KINDS] = {
        [FINDING_CRASH] = "crash", [FINDING_ABORT] = "abort", [FINDING_KILLED] = "killed",
        [FINDING_HANG] = "hang",   [FINDING_LEAK] = "leak",   [FINDING_MISUSE] = "misuse",
};

/* -- equal findings ---------------------------------------------------------------------------- */

/* Frames that decide whether two crashes or leaks are the same.  Callers further out differ. */
enum { DECIDING_FRAMES = 4 };

/* Returns the number of the first frame of STACK that is in the program's own file. */
static unsigned first_own_frame(const struct stack *stack)
{
	for (unsigned i = 0; i < stack->depth; i++)
		if (stack->at[i]->module && stack->at[i]->module->main)
			return i;
	return 0;
}

/* Returns whether the first MOST frames of the program in A and B are the same. */
static bool same_frames(const struct stack *a, const struct stack *b, unsigned most)
{
	if (!a || !b)
		return a == b;
	const unsigned from_a = first_own_frame(a), from_b = first_own_frame(b);
	const unsigned rest_a = a->depth - from_a, rest_b = b->depth - from_b;
	const unsigned count_a = rest_a < most ? rest_a : most;
	const unsigned count_b = rest_b < most ? rest_b : most;

	return count_a == count_b &&
	       memcmp(&a->at[from_a], &b->at[from_b], count_a * sizeof *a->at) == 0;
}

/* Returns whether FINDING is the KIND that ATTEMPT has found with STACK. */
static bool is_same(const struct finding *finding, enum finding_kind kind,
                    const struct stack *stack, const struct attempt *attempt)
{
	if (finding->kind != kind)
		return false;
	switch (kind) {
	case FINDING_HANG: /* the stack is where the time was over */
	case FINDING_KILLED:
		return finding->attempts[0]->site == attempt->site;
	case FINDING_ABORT: /* all exceptions that nobody catches abort alike */
		return same_frames(finding->stack, stack, stack ? stack->depth : 0);
	default:
		return same_frames(finding->stack, stack, DECIDING_FRAMES);
	}
}

/* Adds a finding of ATTEMPT, or adds ATTEMPT to an equal finding.  Returns the finding. */
static struct finding *add_finding(struct torture *torture, struct attempt *attempt,
                                   enum finding_kind kind, const struct stack *stack,
                                   const struct dump *dump)
{
	struct finding *finding = NULL;

	for (size_t i = 0; i < torture->finding_count && !finding; i++)
		if (is_same(&torture->findings[i], kind, stack, attempt))
			finding = &torture->findings[i];
	if (!finding) {
		GROW(torture->findings, torture->finding_room, torture->finding_count + 1);
		finding = &torture->findings[torture->finding_count++];
		*finding = (struct finding){.kind = kind, .stack = stack, .dump = dump};
	}
	if (finding->attempt_count == 0 ||
	    finding->attempts[finding->attempt_count - 1] != attempt) {
		GROW(finding->attempts, finding->room, finding->attempt_count + 1);
		finding->attempts[finding->attempt_count++] = attempt;
	}
	return finding;
}

/* -- what a run has found ---------------------------------------------------------------------- */

/* Blocks that a call site leaves behind, and their bytes. */
struct left {
	uint64_t bytes, blocks;
};

/* Returns the lost blocks of SITE, or all its live blocks if ONLY_LOST is false, as far as they
 * count as leaks (kinds_judged). */
static struct left left_by(const struct site *site, bool only_lost)
{
	static const struct {
		enum reach of_dump, own; /* a call site's own indirectly lost blocks have a name */
	} lost[] = {{REACH_DEFINITE, REACH_DEFINITE},
	            {REACH_INDIRECT, REACH_WITHIN},
	            {REACH_POSSIBLE, REACH_POSSIBLE}};
	const unsigned judged = kinds_judged(site->origin);
	struct left left = {0, 0};

	if (!only_lost)
		return judged == KINDS_ALL ? (struct left){site->bytes, site->blocks} : left;
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		if (judged >> lost[i].of_dump & 1) {
			left.bytes += site->reach.bytes[lost[i].own];
			left.blocks += site->reach.blocks[lost[i].own];
		}
	return left;
}

/* Counts the blocks that the baseline leaves behind at each call site. */
static void count_before(struct torture *torture)
{
	const struct dump *baseline = torture->baseline;

	for (size_t i = 0; i < baseline->site_count; i++) {
		const struct site *site = &baseline->sites[i];

		GROW(torture->before, torture->before_room, site->stack->number + 1);
		while (torture->before_count <= site->stack->number)
			torture->before[torture->before_count++] = (struct left_before){0, 0};
		torture->before[site->stack->number].lost += left_by(site, true).blocks;
		torture->before[site->stack->number].live += left_by(site, false).blocks;
	}
}

/* Adds a leak for each call site that leaves more blocks behind than without failures: lost blocks
 * if both dumps tell lost from reachable memory, and live blocks otherwise. */
static bool find_leaks(struct torture *torture, struct attempt *attempt, const struct dump *dump)
{
	const bool only_lost =
	        dump->totals.reach.is_known && torture->baseline->totals.reach.is_known;
	bool found = false;

	if (torture->before_count == 0)
		count_before(torture);
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		const struct left left = left_by(site, only_lost);
		struct left_before known = {0, 0};

		if (site->stack->number < torture->before_count)
			known = torture->before[site->stack->number];
		const uint64_t before = only_lost ? known.lost : known.live;
		if (left.blocks <= before)
			continue;
		struct finding *finding =
		        add_finding(torture, attempt, FINDING_LEAK, site->stack, dump);
		if (left.blocks - before > finding->blocks) {
			finding->blocks = left.blocks - before;
			finding->bytes = before ? 0 : left.bytes;
		}
		found = true;
	}
	return found;
}

static bool find_misuse(struct torture *torture, struct attempt *attempt, size_t first)
{
	const struct report *report = &torture->report;

	for (size_t i = first; i < report->misuse_count; i++)
		add_finding(torture, attempt, FINDING_MISUSE,
		            report->misuses[i]->misuse->stacks[MISUSE_OFFENDER],
		            report->misuses[i]);
	return report->misuse_count > first;
}

static enum outcome outcome_of(const struct torture *torture, const struct attempt *attempt)
{
	const int status = attempt->status;

	if (attempt->timed_out)
		return OUTCOME_HANG;
	if (WIFSIGNALED(status)) {
		switch (WTERMSIG(status)) {
		case SIGSEGV:
		case SIGBUS:
		case SIGILL:
		case SIGFPE:
		case SIGTRAP:
			return OUTCOME_CRASH;
		case SIGABRT:
			return OUTCOME_ABORT;
		default:
			return OUTCOME_KILLED;
		}
	}
	return status == torture->baseline_status ? OUTCOME_HANDLED : OUTCOME_ERROR_EXIT;
}

bool judge(struct torture *torture, struct attempt *attempt, size_t first_dump, size_t first_misuse)
{
	static const enum finding_kind kinds[OUTCOMES] = {
	        [OUTCOME_CRASH] = FINDING_CRASH,
	        [OUTCOME_ABORT] = FINDING_ABORT,
	        [OUTCOME_KILLED] = FINDING_KILLED,
	        [OUTCOME_HANG] = FINDING_HANG,
	};
	const struct report *report = &torture->report;
	bool found = find_misuse(torture, attempt, first_misuse);

	attempt->dump = NULL;
	for (size_t i = first_dump; i < report->dump_count; i++)
		if (!attempt->dump || attempt->pid == 0 ||
		    report->dumps[i]->pid == (unsigned long)attempt->pid)
			attempt->dump = report->dumps[i];
	attempt->outcome = outcome_of(torture, attempt);
	const struct dump *dump = attempt->dump;
	const bool exits =
	        attempt->outcome == OUTCOME_HANDLED || attempt->outcome == OUTCOME_ERROR_EXIT;

	attempt->missed |= dump && dump->injected_failures == 0;
	if (exits && attempt->missed) {
		attempt->outcome = OUTCOME_NOT_REACHED;
		return found;
	}
	if (found && !exits)
		return true; /* what the C library does of a double free is no second finding */
	if (!exits) {
		add_finding(torture, attempt, kinds[attempt->outcome],
		            dump && dump->crash ? dump->crash->stack : NULL, dump);
		return true;
	}
	if (dump && (attempt->outcome == OUTCOME_HANDLED || torture->judges_error_exits))
		found |= find_leaks(torture, attempt, dump);
	return found;
}
