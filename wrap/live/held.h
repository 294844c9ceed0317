/* held.h - held blocks: live blocks inside a call that may free them, such as realloc and getline.
 *
 * Inside the call the block's address may become another thread's block, long before the call
 * returns.  So the live table does not keep the block's record.  It keeps a hold: the number of an
 * entry of a small table, which has the record.  A hold is no block for the fast path.
 *
 * A hold stands in the place of a call site in a slot's value (slot.h), or in an exact block.  The
 * size field and HALF are 0 there.
 *
 *    18          12   11   10          0
 *    +-------------+------+------------+
 *    | 0           | lent | number     |
 *    +-------------+------+------------+
 *
 * An entry belongs to one call, so its hold tells whether the address is still that call's.  Who
 * allocates at the address overwrites the hold.  A dump finds the record behind the hold.
 *
 * A siglongjmp, an exception or a cancellation may leave the call without ending it.  Its entry is
 * then found by a later call of the same thread with the stack above it, or of a later thread whose
 * state has the same address.  Until then dumps show the block.
 *
 * Known limit: another thread may free a large lent block at the moment when its left hold ends.
 * New blocks that are recorded there at once may lose their sizes or their records.
 *
 * All functions may run in a signal handler and take no lock.  For the files of wrap/live alone,
 * but for leakwrap_held_get_bounds.
 */
#ifndef LEAKWRAP_HELD_H
#define LEAKWRAP_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/live/slot.h"

/* Set in a hold: the call may leave the block alone, so an inner call that frees or resizes the
 * block finds its record. */
#define LEAKWRAP_HELD_LENT 0x800u

/* Returns whether VALUE, of a slot, is a hold. */
LEAKWRAP_INLINE bool leakwrap_is_hold(uint32_t value)
{
	return value != 0 && (value & (LEAKWRAP_SLOT_SIZE_FIELD | LEAKWRAP_SLOT_EXTENDS)) == 0;
}

/* Returns whether HOLD is a hold of a lent block. */
LEAKWRAP_INLINE bool leakwrap_is_lent_hold(uint32_t hold)
{
	return leakwrap_is_hold(hold) && (leakwrap_slot_site(hold) & LEAKWRAP_HELD_LENT) != 0;
}

/* Takes an entry for BLOCK and this thread.  SP is the stack pointer of the call's caller, or 0 if
 * it is not known.  Returns the hold, or 0 if no entry is free. */
uint32_t leakwrap_held_take(const struct leakwrap_live_block *block, bool is_lent, uintptr_t sp);

/* Gives back the entry of HOLD.  No slot may have HOLD any more. */
void leakwrap_held_give(uint32_t hold);

/* Reads the record of HOLD into *BLOCK.  Other threads may change the entry meanwhile: afterwards
 * the slot must still have HOLD.  Returns false if the entry is being changed. */
bool leakwrap_held_read(uint32_t hold, struct leakwrap_live_block *block);

/* Takes over an entry that calls of this thread, or of an earlier thread, have left without giving
 * it back.  Returns its hold and its record in *BLOCK: the caller ends the hold and gives the entry
 * back.  Until then leakwrap_held_read finds the record.  Returns 0 if there is no such entry.  SP
 * is the stack pointer of the current call's caller, or 0: then only the entries of an earlier
 * thread are found. */
uint32_t leakwrap_held_take_left(uintptr_t sp, struct leakwrap_live_block *block);

/* Sets *START and *END to the bounds of the table: it holds addresses of blocks. */
void leakwrap_held_get_bounds(uintptr_t *start, uintptr_t *end);

#endif
