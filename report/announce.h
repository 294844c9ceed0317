/* announce.h - the announcement: struct leakwrap_announcement (format.h) in this process's memory.
 * `leakwrap dump` reads it to learn how to ask for a dump, and where dumps go. */
#ifndef LEAKWRAP_ANNOUNCE_H
#define LEAKWRAP_ANNOUNCE_H

/* Fills in the announcement.  Called once at start, after the options are read. */
void leakwrap_announce(void);

/* Puts this process's id into the announcement.  Called in a forked child. */
void leakwrap_announce_forked(void);

#endif
