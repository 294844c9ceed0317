/* known_frames.c - see known_frames.h.  A direct-mapped cache: each address has one place, which it takes from
 * another.  Pages are touched only for the frames that there are. */
#include "known_frames.h"

#include "frames.h"
#include "port.h"

#include <string.h>

#define PLACES_BITS 13
#define PLACES      ((size_t)1 << PLACES_BITS)
#define PLACE_SIZE  256

struct known {
	uintptr_t pc;
	uint16_t size; /* 0: nothing is kept here */
	char text[PLACE_SIZE - sizeof(uintptr_t) - sizeof(uint16_t)];
};

_Static_assert(sizeof(struct known) == PLACE_SIZE, "places are aligned");

static struct known *places; /* PLACES of them, or NULL */

void leakwrap_known_frames_start(void)
{
	places = leakwrap_scratch_map(PLACES * sizeof(*places));
}

void leakwrap_known_frames_end(void)
{
	if (places)
		leakwrap_scratch_unmap(places, PLACES * sizeof(*places));
	places = NULL;
}

/* Fibonacci hashing: neighbours come apart. */
static struct known *place_of(uintptr_t pc)
{
	return &places[(uint32_t)pc * 0x9e3779b9u >> (32 - PLACES_BITS)];
}

bool leakwrap_known_frame_write(struct leakwrap_writer *writer, unsigned level, uintptr_t pc)
{
	const struct known *known = places ? place_of(pc) : NULL;

	if (!known || known->pc != pc || known->size == 0)
		return false;
	leakwrap_frame_begin(writer, level);
	leakwrap_text_bytes(writer, known->text, known->size);
	leakwrap_text_end(writer);
	return true;
}

void leakwrap_known_frame_keep(uintptr_t pc, const char *text, size_t size)
{
	struct known *known;

	if (!places || size > sizeof(known->text))
		return;
	known = place_of(pc);
	known->pc = pc;
	known->size = (uint16_t)size;
	memcpy(known->text, text, size);
}
