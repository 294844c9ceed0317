/* announce.h - says how this process is asked for a dump, and where its dumps go, for `leakwrap
 * dump` to read. */
#ifndef LEAKWRAP_ANNOUNCE_H
#define LEAKWRAP_ANNOUNCE_H

/* At start, when the options are known: fills in the announcement (format.h). */
void leakwrap_announce(void);

/* In a forked child: the announcement becomes its own. */
void leakwrap_announce_forked(void);

#endif
