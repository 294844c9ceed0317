/* ended_stacks.c - ended_stacks.c in wrap/reach knows no stacks of ended threads where a process
 * has inherited some: from its parent, or from a process before its parent.
 * sources: wrap/reach/ended_stacks.c */
#include "wrap/reach/ended_stacks.h"

#include "wrap/port/port.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/park.h"
#include "unit.h"

static bool has_one_thread, is_emulated;

bool leakwrap_process_has_one_thread(void)
{
	return has_one_thread;
}

bool leakwrap_process_is_emulated(void)
{
	return is_emulated;
}

bool leakwrap_stack_layout(struct leakwrap_stack_layout *layout)
{
	layout->bounds = 1;
	return true;
}

const struct leakwrap_mapping *leakwrap_maps(size_t *count)
{
	*count = 0;
	return NULL;
}

const struct leakwrap_mapping *leakwrap_mapping_at(uintptr_t address)
{
	(void)address;
	return NULL;
}

bool leakwrap_maps_has_thread(const struct leakwrap_mapping *mapping)
{
	(void)mapping;
	return false;
}

size_t leakwrap_page_size(void)
{
	return 4096;
}

uint64_t leakwrap_pages_written(int pagemap, const void *start, size_t *page)
{
	(void)pagemap, (void)start;
	*page = 4096;
	return 0;
}

void leakwrap_parked_each(void (*visit)(void *context, const struct leakwrap_standing *thread),
                          void *context)
{
	(void)visit, (void)context;
}

int leakwrap_thread_known_id(void)
{
	return 1;
}

static bool has_layout(void)
{
	struct leakwrap_stack_layout layout;

	return leakwrap_ended_stacks_layout(&layout);
}

/* Goes on as the child of a process that has ONE thread, or several. */
static void become_child(bool one)
{
	has_one_thread = one;
	leakwrap_ended_stacks_before_fork();
	leakwrap_ended_stacks_reset_in_child();
}

int main(void)
{
	CHECK(has_layout());
	is_emulated = true;
	CHECK(!has_layout());
	is_emulated = false;
	become_child(true);
	CHECK(has_layout());
	become_child(false);
	CHECK(!has_layout());
	become_child(true);
	CHECK(!has_layout());
	return 0;
}
