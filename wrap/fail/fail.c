/* fail.c - see fail.h. */
#include "wrap/fail/fail.h"

#include "wrap/base/hash.h"
#include "wrap/fail/identity.h"
#include "wrap/fail/plan.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/base/site_number.h"
#include "wrap/site/site_read.h"
#include "wrap/unwind/trace.h"

#include <stdatomic.h>
#include <string.h>

/* A call site, by its number.  Numbers are not given back while fail= is on. */
struct entry {
	_Atomic uint32_t hits;
	_Atomic bool is_known;    /* the members below are set */
	_Atomic bool is_excluded; /* the pattern below= does not match */
	_Atomic size_t largest;
	uint64_t identity; /* all threads store the same */
};

bool leakwrap_fail_is_on;

static struct {
	struct entry *entry; /* of LEAKWRAP_SITE_LIMIT call sites, or NULL */
	const struct leakwrap_fail_hooks *hooks;
	_Atomic unsigned long attempts; /* allocations that the rule does not exclude */
	_Atomic bool has_begun;         /* with "sticky", the first failure has come */
	_Atomic uint32_t failures;
	struct leakwrap_failure kept[LEAKWRAP_FAILURES_KEPT];
	_Atomic bool is_kept[LEAKWRAP_FAILURES_KEPT]; /* KEPT is complete: a dump may read it */
} fail;

/* Looks up a function of each module, so that the tables of symbols are read once, and not by each
 * child for its dump. */
static void read_symbols(void)
{
	const struct leakwrap_modules *modules = leakwrap_modules();

	for (unsigned i = 0; i < modules->count; i++)
		fail.hooks->name_of(modules->module[i]->text[0].start);
}

bool leakwrap_fail_start(const struct leakwrap_fail_hooks *hooks)
{
	if (leakwrap_options.fail.choice == LEAKWRAP_FAIL_NOTHING)
		return true;
	fail.hooks = hooks;
	fail.entry = leakwrap_pages_map_sparse(LEAKWRAP_SITE_LIMIT * sizeof(fail.entry[0]), true);
	leakwrap_fail_is_on = fail.entry != NULL;
	if (leakwrap_options.fail.choice == LEAKWRAP_FAIL_PLAN) {
		leakwrap_fail_is_on &= leakwrap_plan_start(hooks->fork);
		read_symbols();
	}
	return leakwrap_fail_is_on;
}

void leakwrap_fail_reset_in_child(void)
{
	atomic_store(&fail.failures, 0);
	for (unsigned i = 0; i < LEAKWRAP_FAILURES_KEPT; i++)
		atomic_store(&fail.is_kept[i], false);
}

/* -- call sites -------------------------------------------------------------------------------- */

/* Returns whether NAME matches PATTERN, in which * stands for any characters.  The C library's
 * fnmatch may allocate. */
static bool matches_pattern(const char *pattern, const char *name)
{
	const char *star = NULL, *rest = NULL; /* the last star, and what it does not stand for */

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			rest = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++rest;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static bool matches(const char *name)
{
	return name && matches_pattern(leakwrap_options.fail.below, name);
}

/* Returns whether a function or module in the backtrace of SITE matches the pattern below=. */
static bool is_below(uint32_t site)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};

	leakwrap_site_read(site, &trace);
	for (unsigned i = 0; i < trace.depth; i++) {
		const struct leakwrap_module *module = leakwrap_module_ever_at(pcs[i] - 1);
		const char *slash = module ? strrchr(module->path, '/') : NULL;

		if (matches(fail.hooks->name_of(pcs[i] - 1)) || (slash && matches(slash + 1)))
			return true;
	}
	return false;
}

/* Returns the entry of SITE.  Finds its identity at first sight. */
static struct entry *entry_of(uint32_t site)
{
	struct entry *entry = &fail.entry[site];

	if (!atomic_load(&entry->is_known)) {
		if (leakwrap_options.fail.below[0] && !is_below(site))
			atomic_store(&entry->is_excluded, true);
		entry->identity = leakwrap_site_identity(site);
		atomic_store(&entry->is_known, true);
	}
	return entry;
}

/* -- decisions --------------------------------------------------------------------------------- */

/* Returns a number that looks random, from the SEED, the call site and the count of its hits: so it
 * does not depend on what other threads do. */
static uint64_t draw(uint64_t seed, uint64_t identity, uint32_t hit)
{
	return leakwrap_hash_mix(seed * LEAKWRAP_HASH_FACTOR_64 + (identity ^ hit));
}

static bool is_chosen(const struct leakwrap_fail_rule *rule, uint64_t attempt, uint64_t identity,
                      uint32_t hit)
{
	switch (rule->choice) {
	case LEAKWRAP_FAIL_NTH:
		return attempt == rule->number;
	case LEAKWRAP_FAIL_RATE:
		return draw(rule->seed, identity, hit) % rule->number == 0;
	case LEAKWRAP_FAIL_SITE:
		return identity == rule->site && hit == rule->number;
	case LEAKWRAP_FAIL_PLAN:
		return leakwrap_plan_fork(identity, hit);
	default:
		return false;
	}
}

static void keep_failure(const struct leakwrap_failure *failure)
{
	const uint32_t index = atomic_fetch_add(&fail.failures, 1);

	if (index < LEAKWRAP_FAILURES_KEPT) {
		fail.kept[index] = *failure;
		atomic_store(&fail.is_kept[index], true);
	}
}

bool leakwrap_fail_decide(uint32_t site, size_t size)
{
	const struct leakwrap_fail_rule *rule = &leakwrap_options.fail;
	struct entry *entry;
	uint32_t hit;

	if (!leakwrap_fail_is_on || site < LEAKWRAP_SITE_FIRST)
		return false;
	entry = entry_of(site);
	if (atomic_load(&entry->is_excluded) || size < rule->smallest || size > rule->largest)
		return false;
	hit = atomic_fetch_add(&entry->hits, 1) + 1;
	if (size > atomic_load(&entry->largest))
		atomic_store(&entry->largest, size);
	if (!(rule->is_sticky && atomic_load(&fail.has_begun)) &&
	    !is_chosen(rule, atomic_fetch_add(&fail.attempts, 1) + 1, entry->identity, hit))
		return false;
	atomic_store(&fail.has_begun, true);
	keep_failure(&(struct leakwrap_failure){site, hit, size});
	return true;
}

void leakwrap_fail_note(uint32_t site, size_t size)
{
	keep_failure(&(struct leakwrap_failure){site, 0, size});
}

/* -- for a dump -------------------------------------------------------------------------------- */

uint64_t leakwrap_failures_count(void)
{
	return atomic_load(&fail.failures);
}

bool leakwrap_failure_read(unsigned index, struct leakwrap_failure *failure)
{
	if (index >= LEAKWRAP_FAILURES_KEPT || !atomic_load(&fail.is_kept[index]))
		return false;
	*failure = fail.kept[index];
	return true;
}

bool leakwrap_fail_reached(uint32_t site, struct leakwrap_reached *reached)
{
	const struct entry *entry = fail.entry ? &fail.entry[site] : NULL;

	if (!entry || atomic_load(&entry->hits) == 0)
		return false;
	*reached = (struct leakwrap_reached){entry->identity, atomic_load(&entry->hits),
	                                     atomic_load(&entry->largest)};
	return true;
}
