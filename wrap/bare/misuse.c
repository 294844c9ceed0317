/* misuse.c - see misuse.h.  The bare-metal runtime does not detect misuse of the heap: the records
 * for that would not fit into its memory. */
#include "wrap/misuse/misuse.h"

bool leakwrap_misuse_checked = false;

void leakwrap_misuse_note_allocation(const void *block, uint32_t site, enum leakwrap_family family)
{
	(void)block, (void)site, (void)family;
}

void leakwrap_misuse_check_release(const struct leakwrap_release *release, size_t size,
                                   uint32_t site)
{
	(void)release, (void)size, (void)site;
}

bool leakwrap_misuse_check_unknown(const struct leakwrap_release *release)
{
	(void)release;
	return false;
}

void leakwrap_misuse_cancel_release(const void *block)
{
	(void)block;
}

void leakwrap_misuse_note_malloc_blocks(void)
{
}

void leakwrap_misuse_note_unseen(void)
{
}
