/* fuzz_requests.c - the entry of libFuzzer: any bytes are what a client sends to leakwrap serve.
 *
 * libmicrohttpd reads them from a socket, and the pages are those of made-up processes, which are
 * never asked.  An answer must begin as HTTP says, and no request may open a file or a folder: the
 * linker leads such calls here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/live/http.h"
#include "tools/log/read_log.h"
#include "tools/model/askers.h"
#include "tools/symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* -- what the linker puts in the place of other functions -------------------------------------- */

static bool answering;

static void refuse(const char *path)
{
	if (!answering)
		return;
	fprintf(stderr, "a request opens %s\n", path);
	abort();
}

bool __wrap_watch_renew(struct watch *asked, struct target **targets, size_t count, double when,
                        int client);
bool __wrap_watch_sleep(struct watch *asked, double when, int client);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__real_fopen64(const char *path, const char *mode);
int __wrap_open64(const char *path, int flags, int mode);
int __real_open64(const char *path, int flags, int mode);
DIR *__wrap_opendir(const char *path);
DIR *__real_opendir(const char *path);

/* The processes keep their dumps, and seconds= is not waited for. */
bool __wrap_watch_renew(struct watch *asked, struct target **targets, size_t count, double when,
                        int client)
{
	(void)asked, (void)targets, (void)count, (void)when, (void)client;
	return true;
}

bool __wrap_watch_sleep(struct watch *asked, double when, int client)
{
	(void)asked, (void)when, (void)client;
	return true;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	/* libFuzzer writes an input that fails. */
	if (*mode == 'r')
		refuse(path);
	return __real_fopen64(path, mode);
}

int __wrap_open64(const char *path, int flags, int mode)
{
	refuse(path);
	return __real_open64(path, flags, mode);
}

DIR *__wrap_opendir(const char *path)
{
	refuse(path);
	return __real_opendir(path);
}

/* -- the processes ----------------------------------------------------------------------------- */

static struct watch watch;

static void take_dump(void *context, const struct parsed_dump *parsed)
{
	struct target *target = context;
	history_add(&target->history, &watch.report, parsed, 4);
}

/* Adds a process PID of the program NAME.  It has no dump if BIAS is 0. */
static void add_target(pid_t pid, const char *name, unsigned bias)
{
	struct target *target = xzalloc(sizeof *target);

	GROW(watch.targets, watch.target_room, watch.target_count + 1);
	watch.targets[watch.target_count++] = target;
	target->pid = pid;
	target->name = name;
	target->report = &watch.report;
	target->asked_at = 1;
	if (!bias) {
		target->error = xstrdup("process 3 is stopped\n");
		return;
	}
	int length = asprintf(
	        &target->raw,
	        "leakwrap[%d.1] dump version=1 reason=signal time=2026-11-20T18:00:00Z "
	        "program=/no/such/%s\n"
	        "leakwrap[%d.1] total live_bytes=30 live_blocks=3 call_sites=2\n"
	        "leakwrap[%d.1] site 1: 20 bytes in 2 blocks, complete\n"
	        "leakwrap[%d.1]   #0 0x%x ? [1] %s+0x100\n"
	        "leakwrap[%d.1] site 2: 10 bytes in 1 blocks, complete\n"
	        "leakwrap[%d.1]   #0 0x%x ? [1] %s+0x200\n"
	        "leakwrap[%d.1] module 1 0x%x-0x%x bias=0x%x build_id=0a1b path=/no/such/%s\n"
	        "leakwrap[%d.1] end sites=2 lines=8 dump_ns=812345\n",
	        pid, name, pid, pid, pid, bias + 0x100, name, pid, pid, bias + 0x200, name, pid,
	        bias, bias + 0x1000, bias, name, pid);
	if (length < 0)
		abort();
	target->raw_size = (size_t)length;
	parse_text(target->raw, target->raw_size, take_dump, target);
	target->dumps = 1;
	if (!watch_last(target))
		abort();
}

static void start(struct http *http)
{
	static const struct watch_options options = {.interval = 1e9};
	const struct search nowhere = {.sysroot = "/nonexistent"};

	watch.options = options;
	watch.scanned_at = 1e18; /* there is no other process */
	pthread_mutex_init(&watch.lock, NULL);
	pthread_cond_init(&watch.changed, NULL);
	pthread_cond_init(&watch.asked, NULL);
	report_start(&watch.report);
	add_target(1, "one", 0x10000);
	add_target(2, "one", 0x20000);
	add_target(3, "one", 0);
	add_target(4, "two", 0x40000);
	symbolize(&watch.report, &nowhere);
	find_askers(&watch.report, &(const struct skips){0});
	http->web.watch = &watch;
	http->loopback = "127.0.0.2";
}

/* -- a request --------------------------------------------------------------------------------- */

/* Reads what comes from FD to its end.  Returns how many bytes; the first ROOM go to TEXT. */
static size_t read_answer(struct MHD_Daemon *daemon, int fd, char *text, size_t room)
{
	char bytes[65536];
	size_t total = 0;

	/* A client that sends half a request and waits gets no answer. */
	for (unsigned idle = 0; idle < 3;) {
		if (MHD_run(daemon) != MHD_YES)
			abort();
		ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			break;
		idle = got > 0 ? 0 : idle + 1;
		if (got > 0 && total < room)
			memcpy(text + total, bytes,
			       (size_t)got < room - total ? (size_t)got : room - total);
		total += got > 0 ? (size_t)got : 0;
	}
	return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct http http;
	static struct MHD_Daemon *daemon;
	static const char protocol[] = "HTTP/1.";
	const struct sockaddr_in address = {.sin_family = AF_INET};
	char begin[sizeof protocol - 1];
	int ends[2];

	if (!daemon) {
		start(&http);
		daemon = MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
		                          http_take_request, &http, MHD_OPTION_NOTIFY_COMPLETED,
		                          http_end_request, NULL, MHD_OPTION_END);
		if (!daemon)
			abort();
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	if (send(ends[0], bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ||
	    fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0 ||
	    MHD_add_connection(daemon, ends[1], (const struct sockaddr *)&address,
	                       sizeof address) != MHD_YES)
		abort();
	answering = true;
	const size_t got = read_answer(daemon, ends[0], begin, sizeof begin);
	answering = false;
	if (got && (got < sizeof begin || memcmp(begin, protocol, sizeof begin) != 0))
		abort();
	close(ends[0]);
	for (unsigned i = 0; i < 3; i++)
		MHD_run(daemon);
	return 0;
}
