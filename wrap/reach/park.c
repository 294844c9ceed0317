/* park.c - see park.h. */
#include "wrap/reach/park.h"

#include "wrap/arch/arch.h"
#include "wrap/base/hash.h"
#include "wrap/base/thread.h"
#include "wrap/port/port.h"
#include "wrap/unwind/stack_bounds.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#ifdef LEAKWRAP_CONTEXT_PC
#include <ucontext.h>
#endif

/* The value of the tracer's park signals. */
#define PARK_VALUE 0x6b706172

/* Room for threads, and for the hash table by which they are found. */
#define ROOM ((size_t)1 << 15)
#define HASH ((size_t)2 * ROOM)

/* How long all threads together may take to park, and how long sleeping threads may, in
 * nanoseconds.  An uninterruptible sleep for a disk takes longer than a sleep that ends at once. */
#define PARK_LIMIT  2000000000u
#define SLEEP_LIMIT 100000000u
#define LOOK_LIMIT  5000000u

/* How long a thread is kept at the end of the process at most, in nanoseconds.  The thread that
 * ends the process is looked at each KEEP_LOOK.  It perhaps waits for one that is kept if it has
 * slept at LOOKS_WAITS looks in turn, or if it has not ended the process after LOOKS_SPINS. */
#define KEEP_LIMIT  60000000000u
#define KEEP_LOOK   10000000u
#define LOOKS_WAITS 10u
#define LOOKS_SPINS 500u

enum { NOT_ASKED, ASKED, PARKED, GONE };

/* In how many groups the ids of threads are, by their lowest bits. */
#define GROUPS 256u

struct parked {
	int thread;
	_Atomic int state;
	struct leakwrap_standing standing;
	struct leakwrap_sleep sleep; /* from before the threads were stopped */
};

struct tables {
	uint32_t turn;               /* as of PARK: threads that were asked wait while it has it */
	bool keeps_sleepers;         /* this is the last park */
	uint32_t hash[HASH];         /* by thread id: 1 + an index of THREADS; 0: unused */
	struct parked threads[ROOM]; /* in the order in which they were found */
};

static struct {
	_Atomic uint32_t turn;         /* odd: threads park */
	_Atomic uint32_t arrived;      /* changes when a thread has parked */
	struct tables *_Atomic tables; /* or NULL */
	size_t count;                  /* of threads in TABLES */
	int self;
	uint64_t started;   /* when the first thread was asked */
	unsigned missing;   /* threads of the last listing that have not parked */
	bool has_asked;     /* the last listing found a new thread */
	bool is_incomplete; /* a thread could not be asked */
	bool is_caught;     /* the handler is installed */
	bool had_missing;   /* a thread may have a signal of an earlier park still to come */
	_Atomic bool keeps_sleepers; /* the last park does so */
	_Atomic int ender;           /* of leakwrap_park_allow_release; 0: nobody */
	_Atomic uint32_t looker;     /* 1: a thread that is kept looks at the ender */
	_Atomic uint32_t lets_go;    /* 1: no thread is kept any more */
	const char *error;           /* of leakwrap_park_error */
	bool has_of_kernel[GROUPS];  /* a thread of the kernel was found in this group */
} park;

/* -- in the other threads ---------------------------------------------------------------------- */

/* Returns the hash table's element for THREAD; it is 0 if THREAD is not in TABLES. */
static uint32_t *find_thread(struct tables *tables, int thread)
{
	size_t at = (size_t)(uint32_t)thread * LEAKWRAP_HASH_FACTOR_32 % HASH;

	while (tables->hash[at] != 0 && tables->threads[tables->hash[at] - 1].thread != thread)
		at = (at + 1) % HASH;
	return &tables->hash[at];
}

/* Returns where the alternate stack of this thread is, or 0.  In the handler with CONTEXT the
 * kernel may say that the thread has none (SS_AUTODISARM). */
static uintptr_t alternate_stack_of(const void *context)
{
#ifdef LEAKWRAP_CONTEXT_PC
	const ucontext_t *const interrupted = context;

	if (interrupted)
		return (interrupted->uc_stack.ss_flags & SS_DISABLE) != 0
		               ? 0
		               : (uintptr_t)interrupted->uc_stack.ss_sp;
#else
	(void)context;
#endif
	return leakwrap_thread_alternate_stack();
}

void leakwrap_stand(struct leakwrap_standing *standing, const void *context, uintptr_t sp)
{
	uintptr_t low;

#ifdef LEAKWRAP_CONTEXT_PC
	if (context)
		sp = (uintptr_t)((const ucontext_t *)context)->LEAKWRAP_CONTEXT_SP;
#endif
	low = leakwrap_stack_low(sp);
	*standing = (struct leakwrap_standing){
	        .context = context,
	        .sp = sp,
	        .stack_low = low,
	        .thread_pointer = LEAKWRAP_THREAD_POINTER,
	        .state = (uintptr_t)&leakwrap_self,
	        .alternate_stack = alternate_stack_of(context),
	        .is_main = leakwrap_thread_id() == leakwrap_process_id(),
	};
}

uintptr_t leakwrap_standing_stack_end(const struct leakwrap_standing *thread)
{
	struct leakwrap_stack_layout layout;

	return thread->stack_low != 0 && leakwrap_stack_layout(&layout)
	               ? thread->thread_pointer + layout.thread_pointer
	               : UINTPTR_MAX;
}

#ifdef LEAKWRAP_CONTEXT_PC

/* Looks at the thread that ends the process until it seems to wait, or DEADLINE has come. */
static void look_at_ender(uint64_t deadline)
{
	unsigned looks = 0, waits = 0;

	while (waits < LOOKS_WAITS && looks < LOOKS_SPINS && leakwrap_time_monotonic() < deadline) {
		const int ender = atomic_load(&park.ender);

		waits = ender != 0 && leakwrap_thread_kernel_state(ender) == 'S' ? waits + 1 : 0;
		looks += ender != 0;
		leakwrap_wait(&park.lets_go, 0, KEEP_LOOK);
	}
}

/* Keeps this thread at the end of the process if the signal with CONTEXT has ended its sleep.  It
 * does not do so for ever: perhaps the process waits for the thread. */
static void keep_sleeper(const void *context)
{
	const ucontext_t *const interrupted = context;
	const uint64_t deadline = leakwrap_time_monotonic() + KEEP_LIMIT;

	if ((int)interrupted->LEAKWRAP_CONTEXT_RESULT != -EINTR)
		return;
	if (atomic_exchange(&park.looker, 1) == 0) {
		look_at_ender(deadline);
		atomic_store(&park.lets_go, 1);
		leakwrap_wake(&park.lets_go);
	}
	while (atomic_load(&park.lets_go) == 0 && leakwrap_time_monotonic() < deadline)
		leakwrap_wait(&park.lets_go, 0, KEEP_LIMIT);
}

#else

static void keep_sleeper(const void *context)
{
	(void)context;
}

#endif

/* Parks this thread.  It may be late: then nobody waits for it any more, or it is another park that
 * does.  So it looks at TURN first, and then at the tables of one park alone: as long as the thread
 * has not parked by them, they stay. */
static void on_park(int signo, void *info, void *context)
{
	struct tables *tables;
	struct parked *entry;
	struct leakwrap_sleep sleep;
	uint32_t number, turn;
	bool keeps_sleepers, is_main;

	if (!leakwrap_park_signal_is(info, PARK_VALUE)) {
		leakwrap_park_signal_pass_on(signo, info, context);
		return;
	}
	if ((atomic_load(&park.turn) & 1) == 0 || !(tables = atomic_load(&park.tables)))
		return;
	number = *find_thread(tables, leakwrap_thread_id());
	if (number == 0)
		return;
	entry = &tables->threads[number - 1];
	if (atomic_load(&entry->state) != ASKED)
		return;
	turn = tables->turn;
	keeps_sleepers = tables->keeps_sleepers;
	sleep = entry->sleep;
	leakwrap_stand(&entry->standing, context, 0);
	is_main = entry->standing.is_main;
	atomic_store(&entry->state, PARKED);
	atomic_fetch_add(&park.arrived, 1);
	leakwrap_wake(&park.arrived);
	while (atomic_load(&park.turn) == turn)
		leakwrap_wait(&park.turn, turn, 1000000000);
	/* Signals of the process come to the main thread, unless it blocks them.  While it is
	 * stopped, another thread may take one that should end its sleep. */
	if ((is_main || !leakwrap_sleep_resume(&sleep, context)) && keeps_sleepers)
		keep_sleeper(context);
}

/* -- in the thread that parks them ------------------------------------------------------------- */

/* Sends the park signal to THREAD.  Returns the new state of its entry.  A thread of the kernel
 * never takes a signal.  The signals would pile up, and the user may have only so many. */
static int send_signal(int thread)
{
	long error;

	if (park.has_of_kernel[(unsigned)thread % GROUPS] && leakwrap_thread_is_of_kernel(thread))
		return GONE;
	if (!park.is_caught) {
		park.is_caught = leakwrap_park_signal_catch(on_park);
		if (!park.is_caught)
			park.error = "the handler that stops other threads cannot be installed";
	}
	error = park.is_caught ? leakwrap_park_signal_send(thread, PARK_VALUE) : -EPERM;
	if (error == -ESRCH) /* it has ended */
		return GONE;
	park.is_incomplete |= error != 0;
	return ASKED;
}

/* Returns the entry of THREAD, which it adds if there is none.  Returns NULL without room. */
static struct parked *find_or_add(struct tables *tables, int thread)
{
	uint32_t *const number = find_thread(tables, thread);

	if (*number == 0) {
		if (park.count == ROOM)
			return NULL;
		tables->threads[park.count].thread = thread;
		tables->threads[park.count].sleep.call = -1;
		*number = (uint32_t)++park.count;
	}
	return &tables->threads[*number - 1];
}

/* Notes in which call THREAD sleeps.  That takes long, and the thread may go on meanwhile. */
static bool note_sleep(void *context, int thread, int folder)
{
	struct parked *const entry = thread == park.self ? NULL : find_or_add(context, thread);

	(void)folder;
	if (entry)
		leakwrap_thread_read_sleep(thread, &entry->sleep);
	return true;
}

/* Asks THREAD to park, unless it has been asked.  Counts it as missing if it has not parked.
 * Returns false if there is no room for it. */
static bool ask(void *context, int thread, int folder)
{
	struct parked *entry;

	(void)folder;
	if (thread == park.self)
		return true;
	entry = find_or_add(context, thread);
	if (!entry) {
		park.is_incomplete = true;
		return false;
	}
	if (atomic_load(&entry->state) == NOT_ASKED) {
		if (entry->sleep.call < 0) /* it was on its way, or is new */
			leakwrap_thread_read_sleep(thread, &entry->sleep);
		atomic_store(&entry->state, ASKED);
		park.has_asked = true;
		if (send_signal(thread) == GONE)
			atomic_store(&entry->state, GONE);
	}
	park.missing += atomic_load(&entry->state) == ASKED;
	return true;
}

/* Returns whether THREAD is of the kernel, and remembers its group if it is. */
static bool is_of_kernel(int thread)
{
	if (!leakwrap_thread_is_of_kernel(thread))
		return false;
	park.has_of_kernel[(unsigned)thread % GROUPS] = true;
	return true;
}

/* Does without threads that have ended, but are listed as long as the process lives, and without
 * those of the kernel and of an emulator (qemu).  Returns whether others are missing, and all of
 * them sleep: the signal has not woken them, so they block it, or cannot be interrupted. */
static bool look_at_missing(struct tables *tables)
{
	const bool is_emulated = leakwrap_process_is_emulated();
	bool is_missing = false, is_running = false;

	for (size_t i = 0; i < park.count; i++) {
		struct parked *const entry = &tables->threads[i];
		char state;

		if (atomic_load(&entry->state) != ASKED)
			continue;
		state = leakwrap_thread_kernel_state(entry->thread);
		if (atomic_load(&entry->state) != ASKED) /* it has parked, and sleeps there */
			continue;
		if (state == 'Z' || state == 'X' || state == '\0' ||
		    (is_emulated && state == 'S') || is_of_kernel(entry->thread))
			atomic_store(&entry->state, GONE);
		else
			is_missing = true;
		is_running |= state == 'R';
	}
	return is_missing && !is_running;
}

/* Asks and waits until all threads have parked, or the time is over. */
static void gather(struct tables *tables)
{
	uint64_t step = 100000, last_hope = park.started;

	do {
		const uint32_t arrived = atomic_load(&park.arrived);

		park.missing = 0;
		park.has_asked = false;
		if (!leakwrap_folder_each_number("/proc/self/task", ask, tables)) {
			park.error = "the threads in /proc/self/task cannot be read";
			park.is_incomplete = true;
			return;
		}
		if (park.is_incomplete || (park.missing == 0 && !park.has_asked))
			return;
		if (park.missing > 0) {
			const uint64_t now = leakwrap_time_monotonic();

			if (now - park.started > LOOK_LIMIT && !look_at_missing(tables))
				last_hope = now;
			if (now - park.started > PARK_LIMIT || now - last_hope > SLEEP_LIMIT)
				return;
			leakwrap_wait(&park.arrived, arrived, step);
			step = step < 10000000 ? 2 * step : step;
		}
	} while (true);
}

/* Parks all other threads.  A child may begin with an odd turn: its thread forked while others were
 * parked. */
static unsigned park_others(bool keeps_sleepers)
{
	struct tables *const tables = leakwrap_scratch_map(sizeof(*tables));

	park.self = leakwrap_thread_id();
	park.count = 0;
	park.missing = 0;
	park.is_incomplete = park.is_caught = false;
	park.error = "other threads could not be stopped";
	park.started = leakwrap_time_monotonic();
	atomic_store(&park.tables, tables);
	if (!tables) {
		park.error = "there is no memory for it";
		return 1;
	}
	leakwrap_folder_each_number("/proc/self/task", note_sleep, tables);
	park.started = leakwrap_time_monotonic();
	tables->turn = (atomic_load(&park.turn) + 1) | 1;
	tables->keeps_sleepers = keeps_sleepers;
	atomic_store(&park.turn, tables->turn);
	gather(tables);
	return park.is_incomplete && park.missing == 0 ? 1 : park.missing;
}

unsigned leakwrap_park(void)
{
	return park_others(false);
}

unsigned leakwrap_park_last(void)
{
	return park_others(atomic_load(&park.keeps_sleepers));
}

void leakwrap_park_keep_sleepers(bool keeps)
{
	atomic_store(&park.ender, 0);
	atomic_store(&park.looker, 0);
	atomic_store(&park.lets_go, 0);
	atomic_store(&park.keeps_sleepers, keeps);
}

void leakwrap_park_allow_release(void)
{
	atomic_store(&park.ender, leakwrap_thread_id());
}

uint64_t leakwrap_park_started(void)
{
	return park.started;
}

const char *leakwrap_park_error(void)
{
	return park.error;
}

void leakwrap_unpark(void)
{
	struct tables *const tables = atomic_load(&park.tables);
	const bool is_late_possible = park.missing > 0 || park.is_incomplete;

	if (!tables)
		return;
	atomic_fetch_add(&park.turn, 1);
	leakwrap_wake(&park.turn);
	/* A thread that comes late needs the handler, and may be about to read the tables.  Once
	 * another park has asked it, it gets one signal more. */
	park.had_missing |= is_late_possible;
	if (park.is_caught && !park.had_missing)
		leakwrap_park_signal_catch(NULL);
	if (is_late_possible)
		return;
	atomic_store(&park.tables, NULL);
	leakwrap_scratch_unmap(tables, sizeof(*tables));
}

void leakwrap_parked_each(void (*visit)(void *context, const struct leakwrap_standing *thread),
                          void *context)
{
	struct tables *const tables = atomic_load(&park.tables);

	for (size_t i = 0; tables && i < park.count; i++)
		if (atomic_load(&tables->threads[i].state) == PARKED)
			visit(context, &tables->threads[i].standing);
}
