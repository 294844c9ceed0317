/* linux_lock.c - the Linux port: the lock. */
#include "wrap/port/linux.h"

/* Interval, in nanoseconds, at which a waiting thread checks whether it may borrow the lock. */
#define RECHECK_INTERVAL 10000000

/* The first such interval.  Only a thread that does not run holds the lock for longer. */
#define FIRST_INTERVAL 1000000

/* Returns whether THREAD of this process is asleep.  A thread in fork that copies the process is
 * not asleep.  A thread in fork that waits for a lock is.  Sets *KNOWN to false if the state cannot
 * be read. */
static bool is_asleep(int thread, bool *known)
{
	const char state = leakwrap_thread_kernel_state(thread);

	*known = state != '\0';
	return state == 'S';
}

/* Tries to borrow the lock from a thread that is in fork.  TRIES: number of earlier tries.  The
 * forking thread itself needs the lock if something that fork calls allocates.  That holds in the
 * child, too, where the thread has another id.  Returns whether the lock is borrowed.
 *
 * Known limit: the fork may go on before the lock is given back.  The child then finds a half-made
 * change.  For that, a thread that wakes every ten milliseconds must wake in the few microseconds
 * before the copy.
 */
static bool try_to_borrow(struct leakwrap_lock *lock, unsigned tries)
{
	const int thread = atomic_load(&lock->forking), own = leakwrap_thread_id();
	bool known, asleep;
	uint32_t free = 0;

	if (thread == 0)
		return false;
	if (thread != own && !leakwrap_thread_has_ended(leakwrap_process_id(), thread)) {
		asleep = is_asleep(thread, &known);
		/* Without /proc, a fork may take two seconds before the lock is lent. */
		if (tries == 0 || (known ? !asleep : tries < 2000000000 / RECHECK_INTERVAL))
			return false;
	}
	if (!atomic_compare_exchange_strong(&lock->lent, &free, (uint32_t)own))
		return false;
	if (atomic_load(&lock->forking) == thread)
		return true;
	atomic_store(&lock->lent, 0);
	leakwrap_wake(&lock->lent);
	return false;
}

/* The id of the parent's thread in a child of vfork, and in a child of a fork that called no
 * handlers. */
static uint32_t own_id(void)
{
	return (uint32_t)leakwrap_thread_known_id();
}

/* Acquires the lock if it is free.  Its word is 0 if free, else the id of the thread that has it.
 * A bit more is set if threads wait for it with their priority. */
static bool try_to_acquire(struct leakwrap_lock *lock, uint32_t own)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong((_Atomic uint32_t *)&lock->word, &free, own);
}

/* Waits for the lock, for some milliseconds at most.  TRIES: number of earlier waits.  Returns
 * whether the lock is acquired.
 *
 * The thread that has the lock may be of a low priority, and not run for long.  A real-time thread
 * that has waited for a while lends it its own priority.  Others do not: sandboxes allow the
 * ordinary wait alone. */
static bool wait_for_lock(struct leakwrap_lock *lock, uint32_t own, unsigned tries)
{
	uint32_t releases;
	bool is_acquired;

	if (tries > 0 && leakwrap_thread_is_realtime() &&
	    leakwrap_wait_with_priority((_Atomic uint32_t *)&lock->word, RECHECK_INTERVAL))
		return true;
	atomic_fetch_add(&lock->waiting, 1);
	releases = atomic_load(&lock->releases);
	is_acquired = try_to_acquire(lock, own);
	if (!is_acquired)
		leakwrap_wait(&lock->releases, releases,
		              tries == 0 ? FIRST_INTERVAL : RECHECK_INTERVAL);
	atomic_fetch_sub(&lock->waiting, 1);
	return is_acquired || try_to_acquire(lock, own);
}

/* Bytes of the stack that the work under a lock takes, unless the caller has touched more. */
#define STACK_USED 608

__attribute__((noinline)) void leakwrap_touch_stack(size_t bytes)
{
	volatile char used[bytes];

	used[0] = 0;
	(void)used[0];
}

/* Acquires or borrows the lock.  IS_FORKING: the thread is about to fork.  It then waits for the
 * end of another thread's fork.  It would keep a borrowed lock for too long, while others need it.
 * Returns whether the lock is borrowed. */
static bool acquire(struct leakwrap_lock *lock, bool is_forking)
{
	const uint32_t own = own_id();
	struct leakwrap_mask before;
	bool is_acquired;

	leakwrap_touch_stack(STACK_USED);
	leakwrap_signals_block(&before);
	is_acquired = try_to_acquire(lock, own);
	for (unsigned tries = 0; !is_acquired; tries++) {
		if (try_to_borrow(lock, is_forking ? 0 : tries)) {
			lock->lent_mask = before;
			return true;
		}
		is_acquired = wait_for_lock(lock, own, tries);
	}
	lock->mask = before;
	return false;
}

void leakwrap_lock(struct leakwrap_lock *lock)
{
	acquire(lock, false);
}

bool leakwrap_trylock(struct leakwrap_lock *lock)
{
	struct leakwrap_mask before;

	leakwrap_touch_stack(STACK_USED);
	leakwrap_signals_block(&before);
	if (!try_to_acquire(lock, own_id())) {
		leakwrap_signals_restore(&before);
		return false;
	}
	lock->mask = before;
	return true;
}

/* Releases the lock, which this thread has, and wakes a thread that waits. */
static void release(struct leakwrap_lock *lock)
{
	_Atomic uint32_t *word = (_Atomic uint32_t *)&lock->word;
	uint32_t own = own_id();

	/* Where the id is the parent's, threads that wait find out at their next check. */
	if (!atomic_compare_exchange_strong(word, &own, 0) && !leakwrap_release_with_priority(word))
		atomic_store(word, 0);
	if (atomic_load(&lock->waiting) > 0) {
		atomic_fetch_add(&lock->releases, 1);
		leakwrap_wake_one(&lock->releases);
	}
}

bool leakwrap_lock_is_borrowed(const struct leakwrap_lock *lock)
{
	return atomic_load(&lock->lent) == (uint32_t)leakwrap_thread_id();
}

void leakwrap_unlock(struct leakwrap_lock *lock)
{
	struct leakwrap_mask before = lock->mask;

	/* LENT may be another thread that is about to see that it may not borrow. */
	if (atomic_load(&lock->lent) != 0 && leakwrap_lock_is_borrowed(lock)) {
		before = lock->lent_mask;
		atomic_store(&lock->lent, 0);
		leakwrap_wake(&lock->lent);
	} else {
		release(lock);
	}
	leakwrap_signals_restore(&before);
}

void leakwrap_lock_for_fork(struct leakwrap_lock *lock)
{
	/* Only a lock whose holder is in another process is borrowed here: it needs no return. */
	if (acquire(lock, true)) {
		lock->mask = lock->lent_mask;
		atomic_store(&lock->lent, 0);
	}
	atomic_store(&lock->forking, leakwrap_thread_id());
}

void leakwrap_unlock_after_fork(struct leakwrap_lock *lock, bool is_child)
{
	uint32_t lent;

	atomic_store(&lock->forking, 0);
	while (!is_child && (lent = atomic_load(&lock->lent)) != 0)
		leakwrap_wait(&lock->lent, lent, RECHECK_INTERVAL);
	atomic_store(&lock->lent, 0);
	if (is_child) { /* this thread has another id, and the threads that waited are not there */
		leakwrap_thread_reset_in_child();
		lock->word = own_id();
		atomic_store(&lock->waiting, 0);
		leakwrap_signals_forget_others(&lock->mask);
	}
	leakwrap_unlock(lock);
}
