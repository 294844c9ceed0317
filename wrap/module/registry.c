/* registry.c - the snapshots of modules and which of them is current, see registry.h. */
#include "wrap/module/registry.h"

#include "wrap/base/arena.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/readers.h"
#include "wrap/module/bypass.h"
#include "wrap/module/loader_list.h"
#include "wrap/module/module_records.h"
#include "wrap/module/originals.h"
#include "wrap/port/port.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* A list of modules that was current.  A daemon that loads and unloads plugins for years has very
 * many, so a hash table finds them. */
struct snapshot {
	UT_hash_handle hh; /* by its modules */
	unsigned holds;
	bool is_resting;
	unsigned tick;         /* when it was last in use (rest.tick) */
	struct snapshot *next; /* the snapshot that rests after it */
	struct leakwrap_modules modules;
};

static struct snapshot no_modules;

static struct {
	struct snapshot *snapshots;       /* uthash */
	const struct snapshot *permanent; /* all modules at start; empty if they may be unloaded */
	unsigned _Atomic generation;
	_Atomic uintptr_t changes;    /* of the loader's list, when it was last read */
	_Atomic uint32_t is_complete; /* the list was published then, with all its modules */
	unsigned long last_published; /* the read whose list was published: its number */
	bool traces_program;          /* the runtime is part of the program itself */
	void (*_Atomic on_change)(void);
} registry = {.permanent = &no_modules};

const struct leakwrap_modules *_Atomic leakwrap_modules_current = &no_modules.modules;

/* -- snapshots --------------------------------------------------------------------------------- */

/* Decides whether LISTED is never unloaded, and notes whether the runtime is part of the program.
 * Modules that were loaded at the program's start are never unloaded.  If the runtime is part of a
 * shared object, modules may have been loaded by dlopen before it.  A static program has the
 * kernel's vdso(7) from its start, but its C library lists it later. */
static bool decide_permanent(const struct leakwrap_module *listed)
{
	const bool holds_runtime =
	        (uintptr_t)leakwrap_modules_refresh - listed->start < listed->end - listed->start;

	if (listed->is_program)
		registry.traces_program = holds_runtime;
	return leakwrap_module_is_vdso(listed) ||
	       (atomic_load(&leakwrap_modules_current) == &no_modules.modules &&
	        (registry.traces_program || listed->is_program || holds_runtime));
}

/* Finds out how the calls of LISTED pass the tracer by. */
static void find_bypass(struct leakwrap_module *listed)
{
	if (leakwrap_libraries_are_recorded)
		listed->bypass = (unsigned char)leakwrap_bypass_of(listed);
}

/* Returns the module of the current snapshot that is the same as LISTED.  Else finds out how the
 * calls of LISTED pass the tracer by, and returns NULL. */
static const struct leakwrap_module *find_known(struct leakwrap_module *listed)
{
	const struct leakwrap_module *current = leakwrap_module_at(listed->start);

	if (current && leakwrap_module_is_same(current, listed))
		return current;
	find_bypass(listed);
	return NULL;
}

static void sort_by_address(const struct leakwrap_module **module, unsigned count)
{
	for (unsigned i = 1; i < count; i++) {
		const struct leakwrap_module *moving = module[i];
		unsigned at = i;

		for (; at > 0 && module[at - 1]->start > moving->start; at--)
			module[at] = module[at - 1];
		module[at] = moving;
	}
}

/* Finds or adds the snapshot of the COUNT modules MODULE.  A program that loads and unloads one
 * plugin again and again uses the same few snapshots.  Returns NULL if there is no memory.  The
 * caller holds the tables' lock. */
static struct snapshot *find_or_add_snapshot(const struct leakwrap_module *const *module,
                                             unsigned count)
{
	const size_t size = count * sizeof(module[0]);
	struct snapshot *snapshot;

	HASH_FIND(hh, registry.snapshots, module, size, snapshot);
	if (snapshot)
		return snapshot;
	snapshot = leakwrap_arena_take(sizeof(*snapshot) + size);
	if (!snapshot)
		return NULL;
	snapshot->modules.count = count;
	snapshot->modules.serial = leakwrap_modules_next_serial();
	snapshot->modules.are_permanent = count > 0;
	memcpy(snapshot->modules.module, module, size);
	leakwrap_tables_failed = false;
	HASH_ADD_KEYPTR(hh, registry.snapshots, snapshot->modules.module, size, snapshot);
	if (leakwrap_tables_failed) {
		leakwrap_arena_give(snapshot, sizeof(*snapshot) + size);
		return NULL;
	}
	for (unsigned i = 0; i < count; i++) {
		snapshot->modules.are_permanent &= module[i]->is_permanent;
		leakwrap_module_add_snapshot(module[i]);
	}
	return snapshot;
}

/* -- giving back ------------------------------------------------------------------------------- */

/* A thread may stop anywhere in a walk, with the address of a snapshot or of a record.  So what
 * nobody holds any more rests until this number of ticks has passed.  A tick takes a second or
 * more, also when the whole process stands still for a while. */
#define REST_TICKS  10
#define NS_PER_TICK 1000000000u

/* Snapshots that are held are too many when their number has doubled, from this number on. */
#define MANY_HELD_MIN 1024u

/* The snapshots that rest, in the order in which they came, and the clock of all that rests. */
static struct {
	struct snapshot *first, *last;
	unsigned tick;
	uint64_t tick_began; /* leakwrap_time_monotonic */
	/* Readers (a dump may take minutes): those from before GRACE_TICK, and the latest tick from
	 * before which all have left. */
	struct leakwrap_grace grace;
	unsigned grace_tick, left_tick;
} rest;

static struct {
	_Atomic unsigned count; /* of snapshots that are held */
	_Atomic unsigned many;  /* the number from which on they are too many */
} held = {.many = MANY_HELD_MIN};

static struct snapshot *snapshot_of(const struct leakwrap_modules *modules)
{
	return (struct snapshot *)((uintptr_t)modules - offsetof(struct snapshot, modules));
}

static bool is_in_use(const struct snapshot *snapshot)
{
	return snapshot->holds > 0 || &snapshot->modules == leakwrap_modules() ||
	       snapshot == registry.permanent || snapshot == &no_modules;
}

static void append_to_rest(struct snapshot *snapshot)
{
	snapshot->next = NULL;
	if (rest.first)
		rest.last->next = snapshot;
	else
		rest.first = snapshot;
	rest.last = snapshot;
}

/* Lets SNAPSHOT rest from now on if it is not in use. */
static void begin_rest(struct snapshot *snapshot)
{
	if (is_in_use(snapshot))
		return;
	snapshot->tick = rest.tick;
	if (!snapshot->is_resting) {
		snapshot->is_resting = true;
		append_to_rest(snapshot);
	}
}

/* Frees SNAPSHOT, and unlinks the records that no other snapshot lists. */
static void free_snapshot(struct snapshot *snapshot)
{
	const unsigned count = snapshot->modules.count;

	HASH_DELETE(hh, registry.snapshots, snapshot);
	for (unsigned i = 0; i < count; i++)
		leakwrap_module_remove_snapshot(snapshot->modules.module[i], rest.tick);
	leakwrap_arena_give(snapshot,
	                    sizeof(*snapshot) + count * sizeof(snapshot->modules.module[0]));
}

static void begin_tick(uint64_t now)
{
	rest.tick++;
	rest.tick_began = now;
	if (leakwrap_grace_is_over(&rest.grace)) {
		rest.left_tick = rest.grace_tick;
		rest.grace_tick = rest.tick;
		leakwrap_grace_begin(&rest.grace);
	}
}

/* Returns whether what went to rest in TICK has rested long enough. */
static bool has_rested(unsigned tick)
{
	return rest.tick - tick >= REST_TICKS && (int)(rest.left_tick - tick) > 0;
}

/* Frees what has rested long enough.  The caller holds the tables' lock. */
static void end_rest(void)
{
	const uint64_t now = leakwrap_time_monotonic();

	if (now - rest.tick_began >= NS_PER_TICK)
		begin_tick(now);
	leakwrap_module_records_free(has_rested);
	while (rest.first && has_rested(rest.first->tick)) {
		struct snapshot *const snapshot = rest.first;

		rest.first = snapshot->next;
		snapshot->is_resting = false;
		if (!is_in_use(snapshot))
			free_snapshot(snapshot);
	}
}

void leakwrap_modules_hold(const struct leakwrap_modules *modules)
{
	if (snapshot_of(modules)->holds++ == 0)
		atomic_fetch_add(&held.count, 1);
}

void leakwrap_modules_release(const struct leakwrap_modules *modules)
{
	struct snapshot *const snapshot = snapshot_of(modules);

	if (--snapshot->holds == 0) {
		atomic_fetch_sub(&held.count, 1);
		begin_rest(snapshot);
	}
}

bool leakwrap_modules_claim_sweep(void)
{
	const unsigned count = atomic_load_explicit(&held.count, memory_order_relaxed);

	if (count < atomic_load_explicit(&held.many, memory_order_relaxed))
		return false;
	atomic_store(&held.many, 2 * count);
	return true;
}

/* -- publishing -------------------------------------------------------------------------------- */

/* Publishes SNAPSHOT if it is not current.  The caller holds the tables' lock. */
static void make_current(const struct snapshot *snapshot)
{
	const struct leakwrap_modules *const before = leakwrap_modules();
	void (*on_change)(void);

	if (&snapshot->modules == before)
		return;
	/* Store before the call: copy_to_first in stack_cache.c depends on it. */
	atomic_store(&leakwrap_modules_current, &snapshot->modules);
	atomic_fetch_add(&registry.generation, 1);
	begin_rest(snapshot_of(before));
	on_change = atomic_load(&registry.on_change);
	if (on_change)
		on_change();
}

/* Returns true if all modules of the current snapshot are still loaded. */
static bool is_current_loaded(void)
{
	const struct leakwrap_modules *current = leakwrap_modules();

	for (unsigned i = 0; i < current->count; i++)
		if (!current->module[i]->is_permanent &&
		    !leakwrap_module_is_there(current->module[i]))
			return false;
	return true;
}

/* Publishes the permanent modules alone if a listed module was unloaded.  Called if there is no
 * memory for the new list: an unlisted module may lie where the old one was.  The caller holds the
 * tables' lock. */
static void publish_permanent(void)
{
	if (!is_current_loaded())
		make_current(registry.permanent);
}

/* Returns true if MODULE of LIST was not known when LIST was read. */
static bool is_new(const struct leakwrap_loader_list *list, const struct leakwrap_module *module)
{
	return (uintptr_t)module - (uintptr_t)list < list->size;
}

/* Publishes the modules of LIST.  IS_DEEPBIND: see module_records.h.  The caller holds the tables'
 * lock, and has been a reader since before LIST was read: known modules are still in the tables. */
static void publish(const struct leakwrap_loader_list *list, bool is_deepbind)
{
	const struct leakwrap_module **module = list->module;
	const bool first = leakwrap_modules() == &no_modules.modules;
	const struct snapshot *snapshot;
	unsigned count = 0;

	end_rest();
	for (unsigned i = 0; i < list->count; i++) {
		module[count] = is_new(list, module[i])
		                        ? leakwrap_module_find_or_add(module[i], is_deepbind,
		                                                      decide_permanent(module[i]))
		                        : module[i];
		count += module[count] != NULL;
	}
	sort_by_address(module, count);
	snapshot = find_or_add_snapshot(module, count);
	if (snapshot) {
		if (first && registry.traces_program)
			registry.permanent = snapshot;
		make_current(snapshot);
	} else {
		publish_permanent();
	}
	/* Store them last: other threads that find no change do not wait for this one. */
	registry.is_complete = snapshot && count == list->count;
	registry.changes = list->changes;
}

bool leakwrap_modules_add(struct leakwrap_module *found)
{
	const struct leakwrap_modules *const now = leakwrap_modules();
	const size_t size = (now->count + 1) * sizeof(now->module[0]);
	const struct leakwrap_module **module = now->count ? leakwrap_scratch_map(size) : NULL;
	const struct snapshot *snapshot;
	unsigned count = 0;

	if (!module)
		return false;
	for (unsigned i = 0; i < now->count; i++)
		if (now->module[i]->start >= found->end || now->module[i]->end <= found->start)
			module[count++] = now->module[i];
	find_bypass(found);
	module[count] = leakwrap_module_find_or_add(found, false, decide_permanent(found));
	count += module[count] != NULL;
	sort_by_address(module, count);
	snapshot = find_or_add_snapshot(module, count);
	if (snapshot)
		make_current(snapshot);
	leakwrap_scratch_unmap(module, size);
	return snapshot != NULL && leakwrap_module_at(found->start) != NULL;
}

/* Returns whether the current snapshot certainly has all modules that are loaded.  A program may
 * open a library that it has, again and again. */
static bool is_up_to_date(void)
{
	const uintptr_t changes = leakwrap_loader_list_changes();

	return changes != 0 && changes == registry.changes && registry.is_complete;
}

static void refresh(bool is_deepbind)
{
	int saved = errno;
	unsigned long read_number;
	const struct leakwrap_module *program = leakwrap_module_of_program();
	struct leakwrap_loader_list *list;
	enum leakwrap_readers_entry entered;

	if (is_up_to_date()) {
		errno = saved;
		return;
	}
	entered = leakwrap_readers_enter();
	list = leakwrap_loader_list_read(program ? program->path : NULL, find_known,
	                                 leakwrap_modules()->count, &read_number);
	leakwrap_lock(&leakwrap_tables_lock);
	/* Of two threads, the later reader has seen every change that the earlier reader saw. */
	if (read_number > registry.last_published) {
		registry.last_published = read_number;
		if (list)
			publish(list, is_deepbind);
		else
			publish_permanent();
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	leakwrap_loader_list_release(list);
	leakwrap_readers_leave(entered);
	errno = saved;
}

void leakwrap_modules_refresh(void)
{
	refresh(false);
}

void leakwrap_modules_refresh_deepbind(void)
{
	refresh(true);
}

bool leakwrap_modules_are_stale(void)
{
	return leakwrap_loader_list_changes() != registry.changes;
}

void leakwrap_modules_set_change_hook(void (*on_change)(void))
{
	atomic_store(&registry.on_change, on_change);
}

/* -- looking up -------------------------------------------------------------------------------- */

unsigned leakwrap_modules_generation(void)
{
	return atomic_load_explicit(&registry.generation, memory_order_acquire);
}

void leakwrap_modules_begin_generation(void)
{
	atomic_fetch_add(&registry.generation, 1);
}

const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address)
{
	unsigned first = 0, behind = modules->count;

	while (first < behind) {
		unsigned middle = (first + behind) / 2;
		const struct leakwrap_module *module = modules->module[middle];

		if (address < module->start)
			behind = middle;
		else if (address >= module->end)
			first = middle + 1;
		else
			return module;
	}
	return NULL;
}

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	return leakwrap_module_among(leakwrap_modules(), address);
}

const struct leakwrap_module *leakwrap_module_ever_at(uintptr_t address)
{
	const struct leakwrap_module *module = leakwrap_module_at(address);

	return module ? module : leakwrap_module_recorded_at(address);
}
