/* profile.h - the answers to those who watch: profiles, pages and metrics of targets.  All
 * functions want the lock of the watch.  A result has *SIZE bytes, and the caller frees it.
 */
#ifndef TOOLS_LIVE_PROFILE_H
#define TOOLS_LIVE_PROFILE_H

#include "tools/live/watch.h"
#include "tools/render/render.h"

/* Returns what RENDER writes of the last dump of TARGET, which has one. */
char *render_last(const struct target *target, void (*render)(FILE *, const struct answer *),
                  size_t *size);

/* Returns the pprof profile of the last dump of TARGET, with the value names of Go.
 * ADDRESSES_ONLY: without functions and lines. */
char *render_profile(const struct target *target, bool addresses_only, size_t *size);

/* Returns the same profile, but viewers show first what was allocated.  The dump must say it. */
char *render_allocs(const struct target *target, size_t *size);

/* OLD is the text of an earlier dump of TARGET, of OLD_SIZE bytes.  Returns what RENDER writes of
 * the change from that dump to the last one, which took SECONDS.  Returns NULL if they cannot be
 * compared. */
char *render_difference(const struct target *target, const char *old, size_t old_size,
                        double seconds, void (*render)(FILE *, const struct answer *),
                        size_t *size);

/* Returns the live page of TARGET, which asks for its data every SECONDS, or the data alone. */
char *render_live(const struct target *target, unsigned seconds, bool data_alone, size_t *size);

/* DUMP is a sum of targets whose dumps share REPORT.  The first function returns what RENDER writes
 * of it.  The second returns its live page or the data alone, as render_live does. */
char *render_sum(struct report *report, const struct dump *dump,
                 void (*render)(FILE *, const struct answer *), size_t *size);
char *render_live_sum(struct report *report, const struct dump *dump, unsigned seconds,
                      bool data_alone, size_t *size);

/* Returns what RENDER writes of the change over SECONDS from the dump OLD to NEW. */
char *render_change(struct report *report, const struct dump *old, const struct dump *new,
                    double seconds, void (*render)(FILE *, const struct answer *), size_t *size);

/* Returns the names of the code at the raw ADDRESSES, "0x1234+0x5678", in the form of gperftools'
 * /pprof/symbol. */
char *render_symbols(const struct target *target, const char *addresses, size_t *size);

/* Returns the metrics of all targets in the text format of Prometheus. */
char *render_metrics(const struct watch *watch, size_t *size);

/* Returns a page that links to the targets. */
char *render_list(const struct watch *watch, size_t *size);

#endif
