/* announce.c - see announce.h.
 *
 * The tool reads the announcement from the memory of the process.  So the process runs no code for
 * the tool.  The program's arguments and environment would not do: the program may have overwritten
 * them. */
#include "report/announce.h"

#include "report/announcement.h"
#include "wrap/base/options.h"
#include "report/log_file.h"
#include "wrap/port/port.h"

/* The ELF note in dump.c holds the distance to this variable, in 32 bits.  With -mcmodel=large
 * there may be more than 2 GB of .bss in between. */
extern struct leakwrap_announcement leakwrap_announcement __attribute__((visibility("hidden")));
struct leakwrap_announcement leakwrap_announcement __attribute__((section(".data")));

static _Atomic uint32_t *atomic_version(void)
{
	return (_Atomic uint32_t *)&leakwrap_announcement.version;
}

void leakwrap_announce(void)
{
	leakwrap_announcement.size = sizeof(leakwrap_announcement);
	leakwrap_announcement.process = leakwrap_process_id();
	leakwrap_announcement.kinds = leakwrap_options.kinds;
	leakwrap_log_pattern(leakwrap_announcement.log, sizeof(leakwrap_announcement.log));
	atomic_store(atomic_version(), LEAKWRAP_ANNOUNCEMENT_VERSION);
}

void leakwrap_announce_signal(int signo)
{
	leakwrap_announcement.signal = signo;
}

void leakwrap_announce_recording(bool is_on, uint32_t interval)
{
	leakwrap_announcement.sample = interval;
	leakwrap_announcement.record = is_on;
}

void leakwrap_announce_kinds(uint32_t when)
{
	leakwrap_announcement.kinds = when;
}

void leakwrap_announce_needs_all(uint32_t option)
{
	leakwrap_announcement.needs_all = option;
}

void leakwrap_announce_mark(void)
{
	leakwrap_announcement.marks++;
}

void leakwrap_announce_reset_in_child(void)
{
	leakwrap_announcement.process = leakwrap_process_id();
}
