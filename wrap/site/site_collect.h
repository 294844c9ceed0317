/* site_collect.h - gives back the call sites that no live block refers to.
 *
 *   live table ──► kept call sites ──► all others: unlinked
 *                            next collection ──► not kept, no reader: freed
 *
 * A call site is unlinked before it is freed, because an allocation may be under way: a thread has
 * found the call site and has not yet recorded the block.  A later collection finds that block, and
 * keeps the call site.  A thread that walks its stack is a reader until it has recorded the block
 * (find_site.h).  So a call site is freed if two collections in a row find no block of it.  They
 * must be 20 ms apart or more, and no reader may be left from before the first.  If a dump reads
 * during the second, a third one frees it, when that dump has ended: others may have begun.
 *
 * A thread whose stack is recognized is no reader.  A dump may interrupt it then.  So a call site
 * whose stack was ever learned is freed when eight seconds without a dump have passed since it was
 * unlinked, unless numbers are short.  If it goes through a module that may be unloaded, a tenth of
 * a second is enough.
 *
 * Known limit: if a thread stays inside one malloc for longer, its block is shown under a call site
 * that was freed, or under the next one with that number.  Numbers are given out again after all
 * other free numbers.
 *
 * A collection is due after as many new call sites as were kept, and more if there are many live
 * blocks or learned stacks, at least 65,536.  It is due earlier if numbers are short, or if there
 * are many dropped stack shapes or many snapshots of modules.
 */
#ifndef LEAKWRAP_SITE_COLLECT_H
#define LEAKWRAP_SITE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#ifndef LEAKWRAP_BARE

/* Collects if that is due.  The caller is no reader and does not hold the tables' lock.
 * Signal-safe. */
void leakwrap_sites_collect_if_due(void);

/* Returns whether NUMBER is about to be freed.  Who reads from now on must not show it: it may be
 * freed meanwhile.  No live block refers to it, but it may have allocated in the past.  Ask this
 * before leakwrap_site_allocated.  Signal-safe. */
bool leakwrap_site_is_doomed(uint32_t number);

/* Returns how many collections have begun to free call sites, modulo 2^32.  A number of a call site
 * that was valid at a time stays so until this changes.  Signal-safe. */
uint32_t leakwrap_sites_collections(void);

/* Who keeps numbers of call sites outside the live table. */
struct leakwrap_site_keeper {
	void (*keep)(void);              /* keeps the numbers (site_numbers.h); takes no lock */
	void (*forget)(uint32_t number); /* NUMBER is freed, and will be another call site's */
};

/* Sets the only keeper, once, at the start of the runtime.  KEEPER stays valid. */
void leakwrap_sites_set_keeper(const struct leakwrap_site_keeper *keeper);

/* In a forked child: forgets the parent's threads.  The caller holds the tables' lock. */
void leakwrap_sites_collect_reset_in_child(void);

#else

/* Without an operating system call sites are not given back. */
static inline void leakwrap_sites_collect_if_due(void)
{
}

#endif

#endif
