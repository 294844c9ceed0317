/* recording.h - turns recording on and off, and changes the interval of sampling, at start and
 * while the program runs.  Does what else `leakwrap set` and `leakwrap mark` ask for.
 *
 * Threads follow at their next allocation, by the slow path: the stack cache recognizes no stack as
 * long as not all blocks are recorded after all were (stack_cache.h).  Exact recording tests
 * nothing more for it. */
#ifndef LEAKWRAP_RECORDING_H
#define LEAKWRAP_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as the options record= and sample= say.  Called once at start, before any thread
 * records. */
void leakwrap_recording_start(void);

/* Turns recording on or off.  Returns false and changes nothing if misuse= or fail= needs every
 * block.  Takes the tables' lock.  Signal-safe. */
bool leakwrap_recording_switch(bool on);

/* Samples one block for each INTERVAL bytes, at most LEAKWRAP_SAMPLE_MAX; 0 records all blocks.
 * Otherwise as leakwrap_recording_switch.  The interval is kept while recording is off. */
bool leakwrap_recording_sample(size_t interval);

/* Marks this time: dumps tell blocks that were allocated since from older blocks.  Returns false
 * and changes nothing if fail= counts allocations at their call sites, or if half of the near
 * numbers are used (leakwrap_sites_mark).  Takes the tables' lock.  Signal-safe. */
bool leakwrap_recording_mark(void);

/* Does what VALUE, an integer of `leakwrap set` or `leakwrap mark` (request.h), asks for.  Takes
 * the tables' lock.  Signal-safe. */
void leakwrap_recording_request(uint32_t value);

#endif
