/* registry.c - registry.c and module_records.c in wrap/module, with a made-up list of the loader:
 * modules come and go, nothing is freed that is in use, and a want of memory is made up for.
 * sources: wrap/module/registry.c wrap/module/module_records.c wrap/base/loss.c
 * sources: wrap/base/options.c wrap/base/thread.c wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_time_monotonic */
#include "wrap/module/registry.h"

#include "wrap/base/arena.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/readers.h"
#include "wrap/module/bypass.h"
#include "wrap/module/loader_list.h"
#include "wrap/module/module_path.h"
#include "wrap/module/module_records.h"
#include "wrap/module/originals.h"
#include "wrap/port/port.h"
#include "unit.h"

#include <string.h>

enum { LISTED_MAX = 8, PROGRAM = 0x1000, PLUGIN = 0x10000, SIZE = 0x1000 };

/* -- the rest of the runtime ------------------------------------------------------------------- */

struct leakwrap_lock leakwrap_tables_lock;
bool leakwrap_tables_failed;
bool leakwrap_libraries_are_recorded;

static bool has_memory = true; /* for paths */
static unsigned taken;         /* pieces of memory that the arena has not got back */

void *leakwrap_arena_take(size_t size)
{
	taken++;
	return calloc(1, size);
}

void leakwrap_arena_give(void *memory, size_t size)
{
	(void)size;
	taken--;
	free(memory);
}

char *leakwrap_module_path_make(const char *path)
{
	if (!has_memory)
		return NULL;
	taken++;
	return strdup(path);
}

void leakwrap_module_path_free(char *path)
{
	taken -= path != NULL;
	free(path);
}

bool leakwrap_module_path_is_of(const char *path, const char *listed)
{
	return strcmp(path, listed) == 0;
}

enum leakwrap_bypass leakwrap_bypass_of(const struct leakwrap_module *module)
{
	(void)module;
	return LEAKWRAP_BYPASS_NONE;
}

bool leakwrap_module_is_vdso(const struct leakwrap_module *module)
{
	(void)module;
	return false;
}

static bool are_there = true; /* the modules that the registry lists */

bool leakwrap_module_is_there(const struct leakwrap_module *module)
{
	(void)module;
	return are_there;
}

enum leakwrap_readers_entry leakwrap_readers_enter(void)
{
	return (enum leakwrap_readers_entry)0;
}

void leakwrap_readers_leave(enum leakwrap_readers_entry entered)
{
	(void)entered;
}

static bool has_reader; /* who entered before all graces */

void leakwrap_grace_begin(struct leakwrap_grace *grace)
{
	(void)grace;
}

bool leakwrap_grace_is_over(struct leakwrap_grace *grace)
{
	(void)grace;
	return !has_reader;
}

static uint64_t now = 1000000000;

uint64_t __wrap_leakwrap_time_monotonic(void);

uint64_t __wrap_leakwrap_time_monotonic(void)
{
	return now;
}

/* What the loader lists. */
static struct leakwrap_module listed[LISTED_MAX];
static unsigned listed_count;
static uintptr_t changes;
static unsigned long reads;
static bool is_list_refused;

struct leakwrap_loader_list *leakwrap_loader_list_read(const char *program_path,
                                                       leakwrap_module_inspector *inspect,
                                                       unsigned expected,
                                                       unsigned long *read_number)
{
	struct leakwrap_loader_list *list;
	const size_t size = sizeof(*list) + LISTED_MAX * sizeof(list->new[0]);

	(void)program_path, (void)expected;
	*read_number = ++reads;
	if (is_list_refused)
		return NULL;
	list = calloc(1, size);
	CHECK(list);
	list->size = size;
	list->changes = changes;
	list->count = listed_count;
	list->module = calloc(LISTED_MAX, sizeof(list->module[0]));
	CHECK(list->module);
	for (unsigned i = 0; i < listed_count; i++) {
		list->new[i] = listed[i];
		list->module[i] = inspect(&list->new[i]);
		if (!list->module[i])
			list->module[i] = &list->new[i];
	}
	return list;
}

void leakwrap_loader_list_release(struct leakwrap_loader_list *list)
{
	if (list)
		free(list->module);
	free(list);
}

uintptr_t leakwrap_loader_list_changes(void)
{
	return changes;
}

/* -- modules ----------------------------------------------------------------------------------- */

/* Returns plugin NUMBER.  All plugins lie at the same address. */
static struct leakwrap_module plugin(unsigned number)
{
	return (struct leakwrap_module){.start = PLUGIN,
	                                .end = PLUGIN + SIZE,
	                                .build_id_size = 1,
	                                .build_id = {(unsigned char)number},
	                                .path = "/plugin"};
}

/* Lets the loader list the program and plugin NUMBER; 0: no plugin. */
static void load(unsigned number)
{
	changes++;
	listed[0] = (struct leakwrap_module){
	        .start = PROGRAM, .end = PROGRAM + SIZE, .is_program = true, .path = "/program"};
	listed[1] = plugin(number);
	listed_count = number == 0 ? 1 : 2;
}

static void load_and_refresh(unsigned number)
{
	load(number);
	leakwrap_modules_refresh();
}

/* Returns the build-id of the plugin that is current, or 0. */
static unsigned current(void)
{
	const struct leakwrap_module *const module = leakwrap_module_at(PLUGIN);

	return module ? module->build_id[0] : 0;
}

/* Lets SECONDS pass, in each of which the list is read. */
static void pass(unsigned seconds)
{
	for (; seconds > 0; seconds--) {
		now += 1000000000;
		changes++;
		leakwrap_modules_refresh();
	}
}

/* -- snapshots --------------------------------------------------------------------------------- */

/* What went out of use rests until all readers of that time have left, and then goes back. */
static void rest(void)
{
	unsigned number;

	load_and_refresh(1);
	CHECK(current() == 1);
	number = leakwrap_module_at(PLUGIN)->number;
	has_reader = true;
	load_and_refresh(0);
	CHECK(current() == 0);
	pass(30);
	CHECK(leakwrap_module_numbered(number) && leakwrap_module_ever_at(PLUGIN));
	has_reader = false;
	pass(30);
	CHECK(!leakwrap_module_numbered(number) && !leakwrap_module_ever_at(PLUGIN));
	load_and_refresh(2);
	CHECK(leakwrap_module_at(PLUGIN)->number == number);
}

/* What is in use again, or held, does not go back. */
static void use_again(void)
{
	const struct leakwrap_modules *held;

	load_and_refresh(3);
	load_and_refresh(0);
	pass(1);
	load_and_refresh(3);
	pass(30);
	CHECK(current() == 3);
	held = leakwrap_modules();
	load_and_refresh(0);
	pass(1);
	leakwrap_modules_hold(held);
	pass(30);
	CHECK(leakwrap_module_among(held, PLUGIN)->build_id[0] == 3);
	leakwrap_modules_release(held);
	pass(30);
	CHECK(!leakwrap_module_ever_at(PLUGIN));
}

/* Without memory for the list the modules stay, unless one of them is gone. */
static void lack_list(void)
{
	load_and_refresh(4);
	is_list_refused = true;
	load_and_refresh(4);
	CHECK(current() == 4);
	are_there = false;
	load_and_refresh(0);
	CHECK(current() == 0);
	are_there = true;
	is_list_refused = false;
}

/* Without memory for a module the list is read again when it is asked for, although it has not
 * changed. */
static void lack_record(void)
{
	unsigned before, numbers;
	unsigned long read;

	load_and_refresh(0);
	pass(30);
	before = taken;
	numbers = leakwrap_modules_count();
	has_memory = false;
	for (unsigned i = 0; i < 10; i++)
		load_and_refresh(5);
	CHECK(current() == 0 && taken == before);
	has_memory = true;
	leakwrap_modules_refresh();
	CHECK(current() == 5 && leakwrap_modules_count() == numbers);
	read = reads;
	leakwrap_modules_refresh();
	CHECK(reads == read);
}

/* A thread that has read the list before another thread comes to publish it later. */
static void be_late(void)
{
	load_and_refresh(6);
	reads -= 2;
	load_and_refresh(0);
	CHECK(current() == 6);
	reads += 2;
	load_and_refresh(0);
	CHECK(current() == 0);
}

/* A module that was found otherwise takes the place of those that lie there. */
static void add_over(void)
{
	struct leakwrap_module found = plugin(8);

	load_and_refresh(7);
	found.start += 16;
	CHECK(leakwrap_modules_add(&found));
	CHECK(current() == 0 && leakwrap_module_at(PLUGIN + 16)->build_id[0] == 8);
	CHECK(leakwrap_modules()->count == 2 && leakwrap_module_at(PROGRAM));
	load_and_refresh(0);
	pass(30);
}

/* -- records ----------------------------------------------------------------------------------- */

static const struct leakwrap_module *add_record(unsigned number)
{
	const struct leakwrap_module at = plugin(number);
	const struct leakwrap_module *const module = leakwrap_module_find_or_add(&at, false, false);

	CHECK(module);
	return module;
}

static bool has_rested(unsigned tick)
{
	(void)tick;
	return true;
}

/* Of modules with equal starts each may go first. */
static void unlink_in_any_order(void)
{
	enum { MODULES = 4 };

	for (unsigned order = 0; order < MODULES * MODULES; order++) {
		const unsigned gone[] = {order % MODULES, order / MODULES};
		const struct leakwrap_module *module[MODULES];
		unsigned number[MODULES];

		for (unsigned i = 0; i < MODULES; i++) {
			module[i] = add_record(20 + i);
			number[i] = module[i]->number;
			leakwrap_module_add_snapshot(module[i]);
		}
		for (unsigned i = 0; i < 2 && (i == 0 || gone[0] != gone[1]); i++) {
			leakwrap_module_remove_snapshot(module[gone[i]], 0);
			module[gone[i]] = NULL;
			for (unsigned k = 0; k < MODULES; k++) {
				CHECK(leakwrap_module_numbered(number[k]) == module[k]);
				CHECK(!module[k] || add_record(20 + k) == module[k]);
			}
		}
		for (unsigned i = 0; i < MODULES; i++)
			if (module[i])
				leakwrap_module_remove_snapshot(module[i], 0);
		CHECK(!leakwrap_module_recorded_at(PLUGIN));
		leakwrap_module_records_free(has_rested);
	}
}

/* The program keeps its record, number 1. */
static void keep_program(void)
{
	const struct leakwrap_module program = {.start = (uintptr_t)2 * PLUGIN,
	                                        .end = 2 * PLUGIN + SIZE,
	                                        .is_program = true,
	                                        .path = "/other"};
	const struct leakwrap_module *const module =
	        leakwrap_module_find_or_add(&program, false, true);

	leakwrap_module_add_snapshot(module);
	leakwrap_module_remove_snapshot(module, 0);
	CHECK(leakwrap_module_of_program() == module && leakwrap_module_numbered(1) == module);
	CHECK(leakwrap_module_find_or_add(&program, false, true) == module);
}

int main(void)
{
	load_and_refresh(0);
	CHECK(leakwrap_module_at(PROGRAM)->number == 1);
	rest();
	use_again();
	lack_list();
	lack_record();
	be_late();
	add_over();
	unlink_in_any_order();
	keep_program();
	return 0;
}
