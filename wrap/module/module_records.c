/* module_records.c - see module_records.h. */
#include "wrap/module/module_records.h"

#include "wrap/base/arena.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/module/bypass.h"
#include "wrap/module/module_path.h"

#include <string.h>

/* A module that a snapshot lists.  A daemon that loads and unloads plugins for years has very many
 * records, so a hash table finds them. */
struct module_record {
	struct leakwrap_module module;
	struct module_record *_Atomic next; /* newest first */
	struct module_record *before;       /* the newer record, or NULL */
	struct module_record *same_start;   /* the next record with the same start */
	UT_hash_handle hh;  /* by module.start; of records with the same start, the first has it */
	unsigned snapshots; /* that list the module, resting ones too */
	unsigned tick;      /* when it was unlinked; SAME_START is the next such record */
	char *path;         /* in the arena */
};

static struct {
	struct module_record *_Atomic newest;
	struct module_record *_Atomic program;
	struct module_record *by_start;                 /* uthash */
	struct module_record *first_rests, *last_rests; /* unlinked records */
	struct module_record *free; /* which have rested, and keep their numbers */
	_Atomic unsigned count;     /* of numbers */
	uint64_t serial;            /* the latest */
} records;

/* -- one record -------------------------------------------------------------------------------- */

static struct module_record *record_of(const struct leakwrap_module *module)
{
	return (struct module_record *)module;
}

bool leakwrap_module_is_same(const struct leakwrap_module *a, const struct leakwrap_module *b)
{
	return a->start == b->start && a->end == b->end && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       a->headers == b->headers && leakwrap_module_path_is_of(a->path, b->path);
}

uint64_t leakwrap_modules_next_serial(void)
{
	return ++records.serial;
}

/* Returns an unused record, or NULL if there is no memory.  A record that was used before keeps its
 * number.  So the program, which is number 1, gets a new record. */
static struct module_record *take_record(bool is_program)
{
	struct module_record *record = is_program ? NULL : records.free;

	if (record) {
		const unsigned number = record->module.number;

		records.free = atomic_load(&record->next);
		memset(record, 0, sizeof(*record));
		record->module.number = number;
		return record;
	}
	return leakwrap_arena_take(sizeof(*record));
}

/* Returns RECORD, whose number stays its own, to the unused records. */
static void give_record(struct module_record *record)
{
	if (record->module.number == 0) {
		leakwrap_arena_give(record, sizeof(*record));
		return;
	}
	atomic_store(&record->next, records.free);
	records.free = record;
}

/* -- the list and the table -------------------------------------------------------------------- */

/* Adds RECORD to the hash table.  FIRST is the first record with the same start, or NULL.  Returns
 * false if there is no memory. */
static bool add_by_start(struct module_record *record, struct module_record *first)
{
	if (first) {
		record->same_start = first->same_start;
		first->same_start = record;
		return true;
	}
	leakwrap_tables_failed = false;
	HASH_ADD(hh, records.by_start, module.start, sizeof(record->module.start), record);
	return !leakwrap_tables_failed;
}

/* Returns the first record of the hash table with this START, or NULL. */
static struct module_record *first_by_start(uintptr_t start)
{
	struct module_record *first;

	HASH_FIND(hh, records.by_start, &start, sizeof(start), first);
	return first;
}

/* Takes RECORD out of the hash table. */
static void remove_by_start(struct module_record *record)
{
	struct module_record *first = first_by_start(record->module.start);

	if (first == record) {
		HASH_DELETE(hh, records.by_start, record);
		if (record->same_start)
			add_by_start(record->same_start, NULL);
	} else {
		while (first && first->same_start != record)
			first = first->same_start;
		if (first)
			first->same_start = record->same_start;
	}
	record->same_start = NULL;
}

/* Puts RECORD into the list of all records. */
static void link_record(struct module_record *record)
{
	struct module_record *const newest = atomic_load(&records.newest);

	atomic_store(&record->next, newest);
	if (newest)
		newest->before = record;
	atomic_store_explicit(&records.newest, record, memory_order_release);
}

/* Takes RECORD out of the list and the table, and lets it rest from TICK on.  Its memory and its
 * NEXT stay for those who read it now. */
static void unlink_record(struct module_record *record, unsigned tick)
{
	struct module_record *const next = atomic_load(&record->next);

	if (record->before)
		atomic_store(&record->before->next, next);
	else
		atomic_store(&records.newest, next);
	if (next)
		next->before = record->before;
	remove_by_start(record);
	record->tick = tick;
	if (records.first_rests)
		records.last_rests->same_start = record;
	else
		records.first_rests = record;
	records.last_rests = record;
}

/* -- for the snapshots ------------------------------------------------------------------------- */

const struct leakwrap_module *leakwrap_module_find_or_add(const struct leakwrap_module *listed,
                                                          bool is_deepbind, bool is_permanent)
{
	struct module_record *const first = first_by_start(listed->start);
	struct module_record *record;
	unsigned number;

	for (record = first; record; record = record->same_start)
		if (leakwrap_module_is_same(&record->module, listed))
			return &record->module;
	record = take_record(listed->is_program);
	if (!record)
		return NULL;
	number = record->module.number;
	record->module = *listed;
	record->module.number = number;
	record->path = leakwrap_module_path_make(listed->path);
	if (!record->path || !add_by_start(record, first)) {
		leakwrap_module_path_free(record->path);
		give_record(record);
		return NULL;
	}
	record->module.path = record->path;
	record->module.serial = leakwrap_modules_next_serial();
	/* Number 1 is the program's, even if there was no memory for its record before. */
	if (records.count == 0)
		records.count = 1;
	if (listed->is_program)
		record->module.number = 1;
	else if (number == 0)
		record->module.number = ++records.count;
	record->module.is_permanent = is_permanent;
	if (is_permanent)
		record->module.bypass = LEAKWRAP_BYPASS_NONE;
	else if (is_deepbind && listed->bypass == LEAKWRAP_BYPASS_NONE)
		record->module.bypass = LEAKWRAP_BYPASS_BOUND;
	link_record(record);
	if (listed->is_program)
		atomic_store_explicit(&records.program, record, memory_order_release);
	return &record->module;
}

void leakwrap_module_add_snapshot(const struct leakwrap_module *module)
{
	record_of(module)->snapshots++;
}

void leakwrap_module_remove_snapshot(const struct leakwrap_module *module, unsigned tick)
{
	struct module_record *const record = record_of(module);

	if (--record->snapshots == 0 && !record->module.is_program)
		unlink_record(record, tick);
}

void leakwrap_module_records_free(bool (*has_rested)(unsigned tick))
{
	while (records.first_rests && has_rested(records.first_rests->tick)) {
		struct module_record *const record = records.first_rests;

		records.first_rests = record->same_start;
		leakwrap_module_path_free(record->path);
		give_record(record);
	}
}

const struct leakwrap_module *leakwrap_module_recorded_at(uintptr_t address)
{
	struct module_record *record = atomic_load_explicit(&records.newest, memory_order_acquire);

	for (; record; record = atomic_load_explicit(&record->next, memory_order_acquire))
		if (address - record->module.start < record->module.end - record->module.start)
			return &record->module;
	return NULL;
}

/* -- by number --------------------------------------------------------------------------------- */

unsigned leakwrap_modules_count(void)
{
	return atomic_load_explicit(&records.count, memory_order_acquire);
}

const struct leakwrap_module *leakwrap_module_of_program(void)
{
	struct module_record *program =
	        atomic_load_explicit(&records.program, memory_order_acquire);

	return program ? &program->module : NULL;
}

const struct leakwrap_module *leakwrap_module_numbered(unsigned number)
{
	struct module_record *record = atomic_load_explicit(&records.newest, memory_order_acquire);

	while (record && record->module.number != number)
		record = atomic_load_explicit(&record->next, memory_order_acquire);
	return record ? &record->module : NULL;
}
