/* guard.c - see guard.h. */
#include "wrap/reach/guard.h"

#include "wrap/port/port.h"
#include "wrap/reach/maps.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

/* Not in the headers of every C library. */
#ifndef SEGV_PKUERR
#define SEGV_PKUERR 4
#endif

static struct {
	jmp_buf landing;
	bool is_copy;
	uintptr_t latest; /* the page of the latest fault in a copy */
	int sent;         /* a signal that is no fault: somebody has sent it; 0: none */
} guard;

/* Makes the page on which FAULT was readable, in a copy.  A page behind a protection key keeps its
 * content.  Zeros take the place of others.  SIGBUS: the file has ended, so no page behind it in
 * the mapping can be read either. */
static bool make_readable(const siginfo_t *fault)
{
	const uintptr_t address = (uintptr_t)fault->si_addr;
	const uintptr_t page = leakwrap_page_size(), start = address & ~(page - 1);
	const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(address);

	if (!mapping || start == guard.latest)
		return false;
	guard.latest = start;
	if (fault->si_signo == SIGSEGV && fault->si_code == SEGV_PKUERR)
		return leakwrap_pages_open(start, mapping->end);
	return leakwrap_pages_replace(start,
	                              fault->si_signo == SIGBUS ? mapping->end : start + page);
}

static void on_fault(int signo, void *info, void *context)
{
	const siginfo_t *const fault = info;

	(void)context;
	if (fault->si_code <= 0)
		guard.sent = signo;
	else if (!guard.is_copy || !make_readable(fault))
		longjmp(guard.landing, 1);
}

bool leakwrap_guard_scan(bool is_copy, void (*scan)(void *context), void *context)
{
	volatile bool is_done = false;

	guard.is_copy = is_copy;
	guard.latest = 0;
	guard.sent = 0;
	if (!leakwrap_faults_catch(on_fault)) {
		scan(context);
		return true;
	}
	if (setjmp(guard.landing) == 0) {
		scan(context);
		is_done = true;
	}
	leakwrap_faults_release();
	if (guard.sent != 0)
		leakwrap_signal_send(guard.sent);
	return is_done;
}

void leakwrap_guard_get_bounds(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&guard;
	*end = (uintptr_t)(&guard + 1);
}
