/* announce.h - the announcement: struct leakwrap_announcement (announcement.h) in this process's
 * memory.  `leakwrap dump` reads it to learn how to ask for a dump, and where dumps go. */
#ifndef LEAKWRAP_ANNOUNCE_H
#define LEAKWRAP_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

/* Fills in the announcement.  Called once at start, after the options are read. */
void leakwrap_announce(void);

/* Announces that SIGNO asks for dumps; 0: no signal does. */
void leakwrap_announce_signal(int signo);

/* Announces whether recording IS_ON, and the INTERVAL of sampling, 0 for none. */
void leakwrap_announce_recording(bool is_on, uint32_t interval);

/* Announces which dumps tell lost from reachable memory: an enum leakwrap_kinds_when. */
void leakwrap_announce_kinds(uint32_t when);

/* Announces which option needs every block: an enum leakwrap_needs_all. */
void leakwrap_announce_needs_all(uint32_t option);

/* Announces one more mark. */
void leakwrap_announce_mark(void);

/* Puts this process's id into the announcement.  Called in a forked child. */
void leakwrap_announce_reset_in_child(void);

#endif
