/* process.c - see process.h.  Called at start, around fork and exec, and by the handler of the dump
 * signal. */
#include "wrap/base/process.h"

#include "wrap/base/hash.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* A process among its relatives.  Its index in the table is its process id modulo MEMBERS. */
struct member {
	_Atomic int pid;         /* 0: none */
	_Atomic uint32_t joined; /* as leakwrap_time_boot; not before PID started */
};

#define MEMBERS       1024
#define REPORTED_BITS ((uint32_t)1 << 17)

/* Memory that all relatives share. */
struct shared {
	struct member members[MEMBERS];
	_Atomic uint32_t dumpers; /* forked children that may dump at exit */
	_Atomic uint32_t silent;  /* children that left their exit dump out */
	_Atomic uint32_t reported_keys[REPORTED_BITS / 32];
};

static struct {
	_Atomic int self;              /* the process that owns this memory */
	_Atomic int parent;            /* the process that forked this one, or 0 */
	_Atomic bool has_recorded;     /* a thread has recorded an allocation, since the fork */
	struct shared *_Atomic shared; /* NULL: nobody has forked, or there is no memory */
} process;

/* -- members ----------------------------------------------------------------------------------- */

/* Returns the entry of PID in the table of members, or NULL if there is no table. */
static struct member *member_of(int pid)
{
	struct shared *shared = atomic_load(&process.shared);

	return shared ? &shared->members[(unsigned)pid % MEMBERS] : NULL;
}

static void join(int pid)
{
	struct member *member = member_of(pid);

	if (!member)
		return;
	atomic_store(&member->pid, 0);
	atomic_store(&member->joined, (uint32_t)leakwrap_time_boot());
	atomic_store(&member->pid, pid);
}

/* Returns whether PID has joined, and sets *WHEN to the time at which it did. */
static bool has_joined(int pid, uint32_t *when)
{
	const struct member *member = member_of(pid);

	if (!member || atomic_load(&member->pid) != pid)
		return false;
	*when = atomic_load(&member->joined);
	return true;
}

/* -- fork and exec ----------------------------------------------------------------------------- */

void leakwrap_process_start(void)
{
	atomic_store(&process.self, leakwrap_process_id());
}

/* The first fork maps the shared memory: most programs never fork. */
void leakwrap_process_before_fork(void)
{
	if (atomic_load(&process.shared))
		return;
	atomic_store(&process.shared, leakwrap_pages_map_shared(sizeof(struct shared)));
	join(leakwrap_process_id());
}

void leakwrap_process_reset_in_child(void)
{
	const int self = leakwrap_process_id();

	atomic_store(&process.parent, atomic_load(&process.self));
	atomic_store(&process.self, self);
	atomic_store(&process.has_recorded, false);
	join(self);
}

void leakwrap_process_note_record(void)
{
	atomic_store_explicit(&process.has_recorded, true, memory_order_relaxed);
}

bool leakwrap_process_is_forked(void)
{
	return atomic_load(&process.parent) != 0;
}

bool leakwrap_process_has_recorded(void)
{
	return atomic_load(&process.has_recorded);
}

void leakwrap_process_prepare_exec(void)
{
	const int self = leakwrap_process_id();
	struct member *member = member_of(self);

	if (member && atomic_load(&member->pid) == self)
		atomic_store(&member->pid, 0);
}

void leakwrap_process_cancel_exec(void)
{
	if (leakwrap_process_owns_memory())
		join(leakwrap_process_id());
}

/* -- questions --------------------------------------------------------------------------------- */

bool leakwrap_process_owns_memory(void)
{
	return leakwrap_process_id() == atomic_load(&process.self);
}

/* Returns the process that forked the running process, or 0.  In a child that no handler of
 * pthread_atfork has seen, process.self is still the parent. */
static int parent_by_fork(void)
{
	const int self = atomic_load(&process.self);

	return leakwrap_process_id() == self ? atomic_load(&process.parent) : self;
}

/* Returns whether OTHER runs the program of this process, without an exec since a fork: both have
 * one memory layout.  The kernel does not show the layout of a process that has ended, and of
 * others not to each user.  Then returns DEFAULTS_TO, or false if the two have different names: a
 * shared library has executed another program there. */
static bool runs_this_program(const struct leakwrap_process_facts *other, bool defaults_to)
{
	struct leakwrap_process_facts own;

	if (!leakwrap_process_facts(leakwrap_process_id(), &own))
		return defaults_to;
	if (other->stack == 0 || own.stack == 0 || own.code_start == 0)
		return defaults_to && other->name == own.name;
	return own.stack == other->stack && own.code_start == other->code_start &&
	       own.code_end == other->code_end;
}

bool leakwrap_process_is_relative(int pid)
{
	const int parent = parent_by_fork();
	struct leakwrap_process_facts facts;
	uint32_t joined = 0;
	bool is_member;

	/* The kernel reports process id 0 for any process in an outer PID namespace. */
	if (pid <= 0 || pid == leakwrap_process_id())
		return false;
	/* The process id of a parent that has ended may belong to a stranger. */
	if (parent != 0 && pid == parent && pid == leakwrap_process_parent_id())
		return true;
	if (parent == 0 && !atomic_load(&process.shared))
		return false; /* nobody has forked */
	is_member = has_joined(pid, &joined);
	if (!leakwrap_process_facts(pid, &facts))
		return is_member; /* it has ended since */
	/* A stranger with the process id of a member that has ended started after that member
	 * joined. */
	if (is_member && (int32_t)((uint32_t)facts.started - joined) > 0)
		return false;
	return runs_this_program(&facts, is_member);
}

/* -- exit dumps of relatives ------------------------------------------------------------------- */

/* Returns the word of the Bloom filter that holds HASH, and sets *BIT to its bit.  Each key has two
 * bits.  A few keys that nobody has reported look reported. */
static _Atomic uint32_t *filter_word(struct shared *shared, uint32_t hash, uint32_t *bit)
{
	*bit = (uint32_t)1 << hash % 32;
	return &shared->reported_keys[hash / 32 % (REPORTED_BITS / 32)];
}

bool leakwrap_relatives_record_shown(uint32_t key)
{
	struct shared *shared = atomic_load(&process.shared);
	const uint32_t hashes[] = {key, key * LEAKWRAP_HASH_FACTOR_32 >> 15};
	bool reported = shared != NULL;

	for (unsigned i = 0; shared && i < 2; i++) {
		uint32_t bit;
		_Atomic uint32_t *word = filter_word(shared, hashes[i], &bit);

		reported &= (atomic_fetch_or(word, bit) & bit) != 0;
	}
	return !reported;
}

uint32_t leakwrap_relatives_count_child(void)
{
	struct shared *shared = atomic_load(&process.shared);

	return shared ? atomic_fetch_add(&shared->dumpers, 1) : 0;
}

void leakwrap_relatives_count_silent(void)
{
	struct shared *shared = atomic_load(&process.shared);

	if (shared)
		atomic_fetch_add(&shared->silent, 1);
}

uint32_t leakwrap_relatives_silent_count(void)
{
	struct shared *shared = atomic_load(&process.shared);

	return shared ? atomic_load(&shared->silent) : 0;
}
