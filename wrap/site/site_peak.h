/* site_peak.h - what each call site held when there were most live bytes (the option peak=).
 *
 * The live blocks are added up when the heap has grown.  The sums are kept if there are more live
 * bytes than ever before.  So the number of sums follows the logarithm of the growth, and the peak
 * is found as exactly as the heap's growth is looked at.
 *
 * All functions are signal-safe.  They have a lock of their own, which none holds for long. */
#ifndef LEAKWRAP_SITE_PEAK_H
#define LEAKWRAP_SITE_PEAK_H

#include <stdbool.h>
#include <stdint.h>

struct leakwrap_peak {
	uint64_t bytes, blocks;
};

/* Adds up the live blocks by call site, and keeps the sums if there are more bytes than ever.
 * Signals are blocked: a handler that leaves by siglongjmp would keep call sites for ever. */
void leakwrap_peak_update(void);

/* Begins to read the peak, which does not change until leakwrap_peak_end_reading.  One thread at a
 * time reads.  Returns all that was live at the peak, and its time in *TIME, in seconds since 1970.
 */
struct leakwrap_peak leakwrap_peak_begin_reading(int64_t *time);

/* Returns whether a thread reads the peak. */
bool leakwrap_peak_is_read(void);

/* Returns what the call site SITE held at the peak; nothing if no thread reads. */
struct leakwrap_peak leakwrap_site_peak(uint32_t site);

/* Moves what the call site FROM held at the peak to the call site TO, while a thread reads. */
void leakwrap_peak_move(uint32_t from, uint32_t to);

/* Stops reading. */
void leakwrap_peak_end_reading(void);

/* Keeps all call sites of the peak, for a collection (site_collect.h). */
void leakwrap_peak_keep_sites(void);

/* Resets in a forked child: another thread of the parent may have held the lock. */
void leakwrap_peak_reset_in_child(void);

#endif
