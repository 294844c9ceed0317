/* dump_kinds.c - see dump_kinds.h. */
#include "report/dump_kinds.h"

#include "report/elf_symbols.h"
#include "report/kinds_writer.h"
#include "report/memory_limit.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/live/live.h"
#include "wrap/reach/heap_known.h"
#include "wrap/reach/start_frame.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_table.h"

#include <stdatomic.h>
#include <string.h>

/* How long a copy of the process may take, in nanoseconds. */
#define COPY_LIMIT 600000000000u

/* The copy's exit status: COPY_DONE if its job is done, COPY_HAS_NOT_COUNTED if it was to count and
 * could not.  Otherwise it is an errno value: why not all of a dump could be written.  No errno
 * value is 255. */
enum { COPY_DONE = 0, COPY_HAS_NOT_COUNTED = 255 };

/* What a scan is for: a dump of the first five members, or the counters. */
struct job {
	struct leakwrap_writer *writer;
	int fd;
	unsigned number;
	bool earlier_lost;
	const struct leakwrap_reason *reason;
	struct leakwrap_kind_counters *counters; /* NULL: a dump */
	/* Shared with the copy: its exit status and SHARED_IS_SET.  NULL: no memory. */
	_Atomic int *status;
};

#define SHARED_IS_SET 0x100

/* Scans for REQUEST, and does JOB with what is found. */
static bool do_job(const struct job *job, const struct leakwrap_kinds_request *request)
{
	struct leakwrap_reason reason;

	if (job->counters)
		return leakwrap_kinds_count(request, job->counters);
	reason = *job->reason;
	reason.kinds = request;
	return leakwrap_dump_write(job->writer, job->fd, job->number, job->earlier_lost, &reason);
}

/* Does JOB in a copy of the process, and ends the copy. */
static _Noreturn void do_in_copy(const struct job *job, struct leakwrap_kinds_request *request)
{
	int status = COPY_DONE;

	leakwrap_process_be_expendable();
	leakwrap_symbols_reset_in_child();
	request->is_copy = true;
	request->scan.original = request->process;
	request->pause_ns = leakwrap_time_monotonic() - request->started;
	if (!do_job(job, request))
		status = job->writer ? job->writer->error : COPY_HAS_NOT_COUNTED;
	if (job->status)
		atomic_store(job->status, status | SHARED_IS_SET);
	leakwrap_process_end(status);
}

/* Waits for the copy PID and returns its exit status, or -1 if it did not end as it should.  The
 * program may have waited for all children (__WALL in wait(2)) and have got the copy's status. */
static int await_status(const struct job *job, int pid)
{
	int status = 0;

	if (leakwrap_process_await(pid, COPY_LIMIT, &status) && (status & 0x7f) == 0)
		return status >> 8;
	status = job->status ? atomic_load(job->status) : 0;
	return (status & SHARED_IS_SET) != 0 ? status & ~SHARED_IS_SET : -1;
}

/* Waits for the copy PID.  If it did not end as it should, does JOB without kinds.  Returns whether
 * the job was done.  If not, the writer has the error. */
static bool await_copy(const struct job *job, struct leakwrap_kinds_request *request, int pid)
{
	const int status = await_status(job, pid);

	if (status >= 0) {
		if (job->writer)
			job->writer->error = status;
		return status == COPY_DONE;
	}
	request->error = "the copy of the process did not end as it should";
	return do_job(job, request);
}

/* The memory that a scan takes is one part in SCAN_SHARE of the process's memory at most, and
 * SCAN_BASE bytes, unless many blocks are watched (wrap/reach/slabs.h). */
#define SCAN_SHARE 48u
#define SCAN_BASE  ((uint64_t)512 << 10)

/* Returns how many bytes the cgroup has left beyond those of a scan; UINT64_MAX: any number.  0: it
 * may have too little memory left for a scan.  The kernel would kill the process, and a copy with
 * all processes of the cgroup if its memory.oom.group is set. */
static __attribute__((noinline)) uint64_t find_spare_memory(void)
{
	uint64_t used, limit;

	if (!leakwrap_memory_limit_find(leakwrap_options.cgroup) ||
	    !leakwrap_memory_limit_read(&used, &limit))
		return UINT64_MAX;
	used += leakwrap_resident_bytes() / SCAN_SHARE + SCAN_BASE;
	return limit > used ? limit - used : 0;
}

static void note_block(void *is_found, const struct leakwrap_live_block *block)
{
	if (block->site != LEAKWRAP_SITE_IGNORED)
		*(bool *)is_found = true;
}

/* Returns why no block can get a kind, or NULL.  Sampled blocks get none.  USERFAULTFD: what the
 * process waits for.  A thread that is parked could not answer. */
static const char *find_no_kinds(enum leakwrap_userfaultfd userfaultfd)
{
	bool is_found = leakwrap_is_recording_all();

	if (userfaultfd == LEAKWRAP_USERFAULTFD_FORKS_AND_MINOR)
		return "with this userfaultfd(2), a copy and a read of memory wait for a thread";
	if (!is_found)
		leakwrap_live_each(note_block, &is_found);
	if (is_found)
		return NULL;
	return leakwrap_last_interval() != 0 ? "sampled blocks have no kind"
	                                     : "recording is off, and no block is known";
}

/* Returns the lowest number of a call site whose blocks a dump for REASON tells of. */
static uint32_t find_first_site(const struct leakwrap_reason *reason)
{
	const uint32_t first_own = leakwrap_sites_first_own();

	return reason->own && first_own > LEAKWRAP_SITE_FIRST ? first_own : 0;
}

/* Scans, and does JOB.  Not inlined: a dump without kinds takes little of the stack. */
static __attribute__((noinline)) bool scan_and_do(struct job *job,
                                                  const struct leakwrap_standing *standing)
{
	const bool is_exit = strcmp(job->reason->name, "exit") == 0;
	const enum leakwrap_userfaultfd userfaultfd = leakwrap_find_userfaultfd();
	struct leakwrap_kinds_request request;
	uintptr_t start_sp;
	bool is_done = false;
	int pid = -1;

	leakwrap_live_reclaim_pages();
	memset(&request, 0, sizeof(request));
	request.error = find_no_kinds(userfaultfd);
	/* Others take memory meanwhile: half of it is for them. */
	if (!request.error && (request.scan.spare = find_spare_memory() / 2) == 0)
		request.error = "too little of the cgroup's memory is left";
	if (request.error) {
		request.process = leakwrap_process_id();
		return do_job(job, &request);
	}
	request.scan.own = *standing;
	if (is_exit && (start_sp = leakwrap_start_frame_sp()) != 0)
		request.scan.own.sp = start_sp;
	request.scan.is_heap_known = leakwrap_heap_is_known();
	request.scan.first_site = find_first_site(job->reason);
	request.process = leakwrap_process_id();
	request.scan.running_threads = is_exit ? leakwrap_park_last() : leakwrap_park();
	request.started = leakwrap_park_started();
	/* At its exit the process has nothing else to do.  A copy may read what it cannot. */
	if (is_exit && request.scan.running_threads == 0 &&
	    userfaultfd != LEAKWRAP_USERFAULTFD_FAULTS) {
		request.bytes_held = leakwrap_pages_held();
		request.is_found = leakwrap_kinds_find(&request);
	}
	if (!is_exit || (request.scan.running_threads == 0 && !request.is_found)) {
		job->status = leakwrap_pages_map_shared(sizeof(*job->status));
		pid = userfaultfd == LEAKWRAP_USERFAULTFD_FORKS ? -1 : leakwrap_process_copy();
	}
	if (pid == 0)
		do_in_copy(job, &request);
	if (pid > 0) {
		leakwrap_unpark();
		is_done = await_copy(job, &request, pid);
	}
	if (job->status)
		leakwrap_scratch_unmap((void *)job->status, sizeof(*job->status));
	if (pid > 0)
		return is_done;
	request.is_parked = true;
	/* A thread that runs could unmap memory under the scan. */
	if (request.scan.running_threads > 0)
		request.error = leakwrap_park_error();
	return do_job(job, &request);
}

bool leakwrap_dump_write_kinds(struct leakwrap_writer *writer, int fd, unsigned number,
                               bool earlier_lost, const struct leakwrap_reason *reason,
                               const struct leakwrap_standing *standing)
{
	if (!standing)
		return leakwrap_dump_write(writer, fd, number, earlier_lost, reason);
	return scan_and_do(&(struct job){writer, fd, number, earlier_lost, reason, NULL, NULL},
	                   standing);
}

/* The copy leaves the counters in memory that it shares with this process. */
bool leakwrap_dump_count_kinds(struct leakwrap_kind_counters *counters,
                               const struct leakwrap_standing *standing)
{
	static const struct leakwrap_reason asked = {.name = "api"};
	struct leakwrap_kind_counters *const shared = leakwrap_pages_map_shared(sizeof(*shared));
	bool is_done;

	if (!shared)
		return false;
	is_done = scan_and_do(&(struct job){.reason = &asked, .counters = shared}, standing);
	if (is_done)
		*counters = *shared;
	leakwrap_scratch_unmap(shared, sizeof(*shared));
	return is_done;
}
