/* announce.c - see announce.h.  The tool reads the memory of the process: nobody runs anything for
 * it, and the program may have overwritten its arguments and its environment. */
#include "report/announce.h"

#include "report/format.h"
#include "wrap/base/options.h"
#include "report/output.h"
#include "wrap/port/port.h"

/* The note in dump.c leads here. */
extern struct leakwrap_announcement leakwrap_announcement __attribute__((visibility("hidden")));
struct leakwrap_announcement leakwrap_announcement;

static _Atomic uint32_t *version(void)
{
	return (_Atomic uint32_t *)&leakwrap_announcement.version;
}

void leakwrap_announce(void)
{
	leakwrap_announcement.size = sizeof(leakwrap_announcement);
	leakwrap_announcement.process = leakwrap_process_id();
	leakwrap_announcement.signal = leakwrap_options.signal;
	leakwrap_output_pattern(leakwrap_announcement.log, sizeof(leakwrap_announcement.log));
	atomic_store(version(), LEAKWRAP_ANNOUNCEMENT_VERSION);
}

void leakwrap_announce_forked(void)
{
	leakwrap_announcement.process = leakwrap_process_id();
}
