/* maps.c - see maps.h. */
#include "wrap/reach/maps.h"

#include "wrap/port/port.h"

/* The kernel allows 65,530 mappings unless vm.max_map_count says otherwise. */
#define ROOM   ((size_t)1 << 16)
#define BUFFER ((size_t)64 << 10)

/* The array of mappings, the buffer, and the array has_thread.  All stay mapped as long as the
 * mappings are in use: they are among them, and later memory of the scan must not take their
 * place. */
#define MEMORY (ROOM * sizeof(struct leakwrap_mapping) + BUFFER + ROOM * sizeof(bool))

static struct {
	struct leakwrap_mapping *mapping;
	bool *has_thread; /* of the mapping with the same index */
	size_t count;
	size_t last; /* index of the last mapping found */
} maps;

static bool add(void *context, const struct leakwrap_mapping *mapping)
{
	(void)context;
	if (maps.count == ROOM)
		return false;
	maps.mapping[maps.count++] = *mapping;
	return true;
}

const char leakwrap_reach_no_memory[] = "there is no memory for the scan";

const char *leakwrap_maps_read(void)
{
	char *buffer;

	maps.count = maps.last = 0;
	maps.mapping = leakwrap_scratch_map(MEMORY);
	if (!maps.mapping)
		return leakwrap_reach_no_memory;
	buffer = (char *)(maps.mapping + ROOM);
	maps.has_thread = (bool *)(buffer + BUFFER);
	if (leakwrap_mappings_each(buffer, BUFFER, add, NULL) && maps.count > 0)
		return NULL;
	leakwrap_maps_release();
	return "/proc/self/maps cannot be read";
}

void leakwrap_maps_release(void)
{
	if (maps.mapping)
		leakwrap_scratch_unmap(maps.mapping, MEMORY);
	maps.mapping = NULL;
	maps.count = 0;
}

void leakwrap_maps_get_bounds(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)maps.mapping;
	*end = *start + MEMORY;
}

const struct leakwrap_mapping *leakwrap_maps(size_t *count)
{
	*count = maps.count;
	return maps.mapping;
}

static bool is_in(const struct leakwrap_mapping *mapping, uintptr_t address)
{
	return address >= mapping->start && address < mapping->end;
}

const struct leakwrap_mapping *leakwrap_mapping_at(uintptr_t address)
{
	size_t low = 0, high = maps.count;

	if (maps.last < maps.count && is_in(&maps.mapping[maps.last], address))
		return &maps.mapping[maps.last];
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (maps.mapping[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == maps.count || !is_in(&maps.mapping[low], address))
		return NULL;
	maps.last = low;
	return &maps.mapping[low];
}

void leakwrap_maps_note_thread(uintptr_t address)
{
	const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(address);

	if (mapping)
		maps.has_thread[mapping - maps.mapping] = true;
}

bool leakwrap_maps_has_thread(const struct leakwrap_mapping *mapping)
{
	return maps.has_thread[mapping - maps.mapping];
}

uintptr_t leakwrap_maps_readable_end(uintptr_t address, uintptr_t limit)
{
	uintptr_t at = address;

	while (at < limit) {
		const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(at);

		if (!mapping || !mapping->is_readable || mapping->is_special)
			break;
		at = mapping->end;
	}
	return at < limit ? at : limit;
}
