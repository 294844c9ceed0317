/* process.c - see process.h.  Called at start, around fork and exec, and by the handler of the dump signal. */
#include "process.h"

#include "port.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Where a process stands among its relatives: in the place that its number chooses. */
struct member {
	_Atomic int pid;         /* 0: none */
	_Atomic uint32_t joined; /* by leakwrap_time_boot, so not before PID started */
};

#define MEMBERS 1024

static struct {
	_Atomic int self;   /* owns this memory */
	_Atomic int parent; /* the process that forked this one, or 0 */
	struct member
	        *_Atomic members; /* common to all relatives; NULL: nobody has forked, or no memory */
} process;

/* -- members ------------------------------------------------------------------------------------- */

/* Returns the place of PID, or NULL if there is no table. */
static struct member *place_of(int pid)
{
	struct member *members = atomic_load(&process.members);

	return members ? &members[(unsigned)pid % MEMBERS] : NULL;
}

static void join(int pid)
{
	struct member *member = place_of(pid);

	if (!member)
		return;
	atomic_store(&member->pid, 0);
	atomic_store(&member->joined, (uint32_t)leakwrap_time_boot());
	atomic_store(&member->pid, pid);
}

/* Returns whether PID has joined, and *WHEN. */
static bool has_joined(int pid, uint32_t *when)
{
	const struct member *member = place_of(pid);

	if (!member || atomic_load(&member->pid) != pid)
		return false;
	*when = atomic_load(&member->joined);
	return true;
}

/* -- fork and exec ------------------------------------------------------------------------------- */

void leakwrap_process_start(void)
{
	atomic_store(&process.self, leakwrap_process_id());
}

/* The table is made by the first fork: most programs never do. */
void leakwrap_process_before_fork(void)
{
	if (atomic_load(&process.members))
		return;
	atomic_store(&process.members, leakwrap_pages_map_shared(MEMBERS * sizeof(struct member)));
	join(leakwrap_process_id());
}

void leakwrap_process_forked(void)
{
	const int self = leakwrap_process_id();

	atomic_store(&process.parent, atomic_load(&process.self));
	atomic_store(&process.self, self);
	join(self);
}

void leakwrap_process_executing(void)
{
	const int self = leakwrap_process_id();
	struct member *member = place_of(self);

	if (member && atomic_load(&member->pid) == self)
		atomic_store(&member->pid, 0);
}

void leakwrap_process_not_executed(void)
{
	if (leakwrap_process_owns_memory())
		join(leakwrap_process_id());
}

/* -- questions ----------------------------------------------------------------------------------- */

bool leakwrap_process_owns_memory(void)
{
	return leakwrap_process_id() == atomic_load(&process.self);
}

/* Returns the process that forked the running one, or 0.  In a child that no handler of pthread_atfork has
 * seen, the parent still stands as the owner of the memory. */
static int parent_by_fork(void)
{
	const int self = atomic_load(&process.self);

	return leakwrap_process_id() == self ? atomic_load(&process.parent) : self;
}

/* Returns whether OTHER has the memory layout of the running process, or that is not shown: DEFAULTS_TO. */
static bool has_own_layout(const struct leakwrap_process_facts *other, bool defaults_to)
{
	struct leakwrap_process_facts own;

	if (other->stack == 0 || !leakwrap_process_facts(leakwrap_process_id(), &own) ||
	    own.stack == 0 || own.code_start == 0)
		return defaults_to;
	return own.stack == other->stack && own.code_start == other->code_start &&
	       own.code_end == other->code_end;
}

bool leakwrap_process_is_relative(int pid)
{
	const int parent = parent_by_fork();
	struct leakwrap_process_facts facts;
	uint32_t joined = 0;
	bool is_member;

	/* The kernel says 0 of a process in an outer PID namespace: that may be anybody. */
	if (pid <= 0 || pid == leakwrap_process_id())
		return false;
	/* A parent that has ended may have left its number to a stranger. */
	if (parent != 0 && pid == parent && pid == leakwrap_process_parent_id())
		return true;
	if (parent == 0 && !atomic_load(&process.members))
		return false; /* nobody has forked */
	is_member = has_joined(pid, &joined);
	if (!leakwrap_process_facts(pid, &facts))
		return is_member; /* it has ended since */
	/* A stranger that got the number of a member which has ended started later. */
	if (is_member && (int32_t)((uint32_t)facts.started - joined) > 0)
		return false;
	return has_own_layout(&facts, is_member);
}
