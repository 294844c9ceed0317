/* web.c - see web.h. */
#include "tools/live/web.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/live/profile.h"

enum { SECONDS_MAX = 3600 };

static const char text_type[] = "text/plain; charset=utf-8",
                  page_type[] = "text/html; charset=utf-8";

static struct web_reply make_reply(unsigned status, const char *type, char *body, size_t size)
{
	return (struct web_reply){status, type, body, size};
}

static struct web_reply make_error(unsigned status, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static struct web_reply make_error(unsigned status, const char *format, ...)
{
	char *line = NULL, *body = NULL;
	size_t size = 0;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&line, format, arguments) < 0)
		line = NULL;
	va_end(arguments);
	FILE *stream = open_memstream(&body, &size);
	if (stream) {
		put_text(stream, line ? line : format);
		putc('\n', stream);
		fclose(stream);
	}
	free(line);
	return make_reply(status, text_type, body, size);
}

/* Waits until the next dump of TARGET has come, or the last one is young enough.  Returns false,
 * and sets *REPLY, if there is none. */
static bool update(struct watch *watch, struct target *target, struct web_reply *reply)
{
	watch_want(watch, target);
	watch_wait(watch, &target, 1);
	if (watch->stopping)
		*reply = make_error(503, "the server ends");
	else if (target->error)
		*reply = make_error(502, "%.*s", (int)strcspn(target->error, "\n"), target->error);
	else if (!watch_last(target))
		*reply = make_error(502, "process %d has sent no dump that can be read",
		                    target->pid);
	else
		return true;
	return false;
}

/* Sleeps with the lock released, and wakes up early when the server ends. */
static void sleep_until(struct watch *watch, double when)
{
	struct timespec until = {.tv_sec = (time_t)when,
	                         .tv_nsec = (long)((when - (double)(time_t)when) * 1e9)};
	while (!watch->stopping && watch_now() < when)
		pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
}

/* Answers with what changes over SECONDS. */
static struct web_reply answer_difference(struct watch *watch, struct target *target,
                                          double seconds,
                                          void (*render)(FILE *, const struct answer *),
                                          const char *type)
{
	struct web_reply reply = {0};
	double least = watch_interval(watch, target);
	char *old = xmalloc(target->raw_size);
	size_t old_size = target->raw_size, size = 0;

	memcpy(old, target->raw, old_size);
	target->users++;
	sleep_until(watch, target->asked_at + (seconds > least ? seconds : least));
	target->users--;
	if (update(watch, target, &reply)) {
		char *body = render_difference(target, old, old_size, target->raw, target->raw_size,
		                               render, &size);
		reply = body ? make_reply(200, type, body, size)
		             : make_error(502, "the dumps of process %d cannot be compared",
		                          target->pid);
	}
	free(old);
	return reply;
}

static struct web_reply answer_heap(struct watch *watch, struct target *target,
                                    const struct web_request *request, bool text)
{
	struct web_reply reply;
	uint64_t seconds = 0;
	size_t size = 0;

	if (request->debug && strcmp(request->debug, "0") != 0) {
		if (strcmp(request->debug, "1") != 0)
			return make_error(400, "debug=1 is text, debug=0 or nothing is a profile");
		text = true;
	}
	if (request->seconds &&
	    (!parse_number(request->seconds, &seconds) || seconds > SECONDS_MAX))
		return make_error(400, "seconds= is a number up to %d", SECONDS_MAX);
	if (!update(watch, target, &reply))
		return reply;
	const char *type = text ? text_type : "application/octet-stream";
	if (seconds)
		return answer_difference(watch, target, (double)seconds,
		                         text ? render_heap_text : render_pprof, type);
	if (text) {
		char *body = render_last(target, render_heap_text, &size);
		return make_reply(200, type, body, size);
	}
	if (!target->profile)
		target->profile = render_profile(target, false, &target->profile_size);
	char *copy = xmalloc(target->profile_size);
	memcpy(copy, target->profile, target->profile_size);
	return make_reply(200, type, copy, target->profile_size);
}

/* Answers with what was allocated so far. */
static struct web_reply answer_allocs(struct watch *watch, struct target *target,
                                      const struct web_request *request)
{
	struct web_reply reply;
	const bool text = request->debug && strcmp(request->debug, "0") != 0;
	size_t size = 0;

	if (text && strcmp(request->debug, "1") != 0)
		return make_error(400, "debug=1 is text, debug=0 or nothing is a profile");
	if (request->seconds && strcmp(request->seconds, "0") != 0)
		return make_error(400, "seconds= is for /debug/pprof/heap alone");
	if (!update(watch, target, &reply))
		return reply;
	if (watch_last(target)->totals.estimate.allocated_bytes < 0)
		return make_error(501,
		                  "the dumps of process %d do not say what it allocated in all; "
		                  "start it with allocated=1 or sample= in LEAKWRAP_OPTIONS",
		                  target->pid);
	char *body =
	        text ? render_last(target, render_heap_text, &size) : render_allocs(target, &size);
	return make_reply(200, text ? text_type : "application/octet-stream", body, size);
}

static struct web_reply answer_cmdline(const struct target *target)
{
	const struct dump *last = watch_last(target);
	char *body = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&body, &size);
	if (!stream)
		die("out of memory");
	for (size_t i = 0; i < last->command_count; i++) {
		put_text(stream, last->command[i]);
		putc('\n', stream);
	}
	if (last->command_count == 0) {
		put_text(stream, last->program ? last->program : "?");
		putc('\n', stream);
	}
	fclose(stream);
	return make_reply(200, text_type, body, size);
}

static unsigned live_seconds(const struct watch *watch, const struct target *target)
{
	double interval = watch_interval(watch, target);
	return interval < 1 ? 1 : (unsigned)interval;
}

/* Answers for PAGE of TARGET. */
static struct web_reply answer_target(struct watch *watch, struct target *target, const char *page,
                                      const struct web_request *request)
{
	struct web_reply reply;
	size_t size = 0;

	if (strcmp(page, "debug/pprof/allocs") == 0)
		return answer_allocs(watch, target, request);
	if (strcmp(page, "debug/pprof/heap") == 0)
		return answer_heap(watch, target, request, false);
	if (strcmp(page, "pprof/heap") == 0)
		return answer_heap(watch, target, request, true);
	if (!update(watch, target, &reply))
		return reply;
	if (strcmp(page, "") == 0 || strcmp(page, "data.json") == 0) {
		bool data = *page != '\0';
		char *body = render_live(target, live_seconds(watch, target), data, &size);
		return make_reply(200, data ? "application/json" : page_type, body, size);
	}
	if (strcmp(page, "dump") == 0) {
		char *copy = xmalloc(target->raw_size);
		memcpy(copy, target->raw, target->raw_size);
		return make_reply(200, text_type, copy, target->raw_size);
	}
	if (strcmp(page, "pprof/cmdline") == 0 || strcmp(page, "debug/pprof/cmdline") == 0)
		return answer_cmdline(target);
	char *body = render_symbols(target, request->body, &size); /* pprof/symbol */
	return make_reply(200, text_type, body, size);
}

static bool is_target_page(const char *page)
{
	static const char *const pages[] = {"",
	                                    "data.json",
	                                    "dump",
	                                    "debug/pprof/heap",
	                                    "debug/pprof/allocs",
	                                    "debug/pprof/cmdline",
	                                    "debug/pprof/symbol",
	                                    "pprof/heap",
	                                    "pprof/cmdline",
	                                    "pprof/symbol"};
	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
		if (strcmp(page, pages[i]) == 0)
			return true;
	return false;
}

/* Asks all targets that are due, and waits. */
static void update_all(struct watch *watch)
{
	size_t count = watch->target_count;
	struct target **targets = xmalloc((count + 1) * sizeof *targets);
	for (size_t i = 0; i < count; i++) {
		targets[i] = watch->targets[i];
		watch_want(watch, targets[i]);
	}
	watch_wait(watch, targets, count);
	free(targets);
}

static struct web_reply answer_dumps(const struct watch *watch)
{
	char *body = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&body, &size);
	if (!stream)
		die("out of memory");
	for (size_t i = 0; i < watch->target_count; i++)
		if (watch->targets[i]->raw)
			fwrite(watch->targets[i]->raw, 1, watch->targets[i]->raw_size, stream);
	fclose(stream);
	return make_reply(200, text_type, body, size);
}

/* Answers for PAGE of the process that WHAT names; NULL: the only one. */
static struct web_reply answer_process(struct watch *watch, const char *what, const char *page,
                                       const struct web_request *request)
{
	size_t count, size = 0;
	struct target *target = watch_find(watch, what, &count);
	if (!is_target_page(page))
		return make_error(404, "there is no such page");
	if (target)
		return answer_target(watch, target, page, request);
	if (!what && strcmp(page, "") == 0) {
		update_all(watch);
		char *body = render_list(watch, &size);
		return make_reply(200, page_type, body, size);
	}
	if (count == 0)
		return what ? make_error(404, "no traced process %s is served", what)
		            : make_error(404, "no process is traced");
	if (what)
		return make_error(409, "%zu processes are called %s: /process/PID/ names one",
		                  count, what);
	return make_error(409, "%zu processes are served: /process/PID/%s names one", count, page);
}

struct web_reply web_answer(struct watch *watch, const struct web_request *request)
{
	static const char process[] = "/process/";
	struct web_reply reply;
	const char *path = request->path;
	size_t size = 0;

	pthread_mutex_lock(&watch->lock);
	watch_scan(watch);
	if (strcmp(path, "/metrics") == 0) {
		update_all(watch);
		char *body = render_metrics(watch, &size);
		reply = make_reply(200, "text/plain; version=0.0.4; charset=utf-8", body, size);
	} else if (strcmp(path, "/dumps") == 0) {
		update_all(watch);
		reply = answer_dumps(watch);
	} else if (strncmp(path, process, sizeof process - 1) == 0) {
		const char *what = path + sizeof process - 1, *slash = strchr(what, '/');
		char *name = slash ? strndup(what, (size_t)(slash - what)) : NULL;
		reply = name && *name ? answer_process(watch, name, slash + 1, request)
		                      : make_error(404, "/process/PID/ names a process");
		free(name);
	} else {
		reply = *path == '/' ? answer_process(watch, NULL, path + 1, request)
		                     : make_error(400, "the path must begin with a slash");
	}
	pthread_mutex_unlock(&watch->lock);
	return reply;
}
