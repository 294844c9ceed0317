/* web.c - see web.h. */
#include "tools/live/web.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
#include "tools/base/text.h"
#include "tools/live/profile.h"
#include "tools/model/kinds.h"
#include "tools/model/totals.h"

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
	FILE *stream = open_bytes(&body, &size);
	put_text(stream, line ? line : format);
	putc('\n', stream);
	fclose(stream);
	free(line);
	return make_reply(status, text_type, body, size);
}

/* Answers a client that has left.  Nobody reads it. */
static struct web_reply answer_nobody(void)
{
	return make_error(503, "the client has left");
}

/* Returns whether TARGET has a dump and the last try did not fail.  Sets *REPLY if not. */
static bool has_dump(const struct watch *watch, const struct target *target,
                     struct web_reply *reply)
{
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

/* Waits until the next dump of TARGET has come, or the last one is young enough.  Returns false,
 * and sets *REPLY, if there is none. */
static bool update(struct watch *watch, struct target *target, struct web_reply *reply)
{
	watch_want(watch, target);
	watch_wait(watch, &target, 1);
	return has_dump(watch, target, reply);
}

/* What a client wants of a heap profile. */
struct wish {
	void (*render)(FILE *, const struct answer *);
	const char *type;
	bool is_text;
	double seconds; /* 0: what is live, otherwise what changes meanwhile */
	unsigned kinds; /* a set; 0: all live blocks, whatever their kind */
	int client;     /* its socket */
};

/* Reads the parameters of REQUEST into *WISH.  IS_TEXT: the page is text anyway.  Returns false,
 * and sets *REPLY, if they make no sense. */
static bool read_wish(const struct web_request *request, bool is_text, struct wish *wish,
                      struct web_reply *reply)
{
	uint64_t seconds = 0;
	unsigned kinds = 0;

	if (request->kinds && (kinds = parse_kinds(request->kinds)) == 0) {
		*reply = make_error(400, "kinds= is a list of definite, indirect, possible and "
		                         "reachable, or all");
		return false;
	}
	if (request->debug && strcmp(request->debug, "0") != 0) {
		if (strcmp(request->debug, "1") != 0) {
			*reply =
			        make_error(400, "debug=1 is text, debug=0 or nothing is a profile");
			return false;
		}
		is_text = true;
	}
	if (request->seconds &&
	    (!parse_number(request->seconds, &seconds) || seconds > SECONDS_MAX)) {
		*reply = make_error(400, "seconds= is a number up to %d", SECONDS_MAX);
		return false;
	}
	if (kinds && seconds > 0) {
		*reply = make_error(400, "kinds= and seconds= exclude each other");
		return false;
	}
	*wish = (struct wish){.render = is_text ? render_heap_text : render_pprof,
	                      .type = is_text ? text_type : "application/octet-stream",
	                      .is_text = is_text,
	                      .seconds = (double)seconds,
	                      .client = request->client,
	                      .kinds = kinds};
	return true;
}

static struct web_reply make_copy(const char *type, const char *bytes, size_t size)
{
	char *copy = xmalloc(size + 1);
	memcpy(copy, bytes, size);
	return make_reply(200, type, copy, size);
}

/* Answers with what of DUMP, of REPORT, is of the kinds of WISH. */
static struct web_reply answer_kinds(struct report *report, const struct dump *dump,
                                     const struct wish *wish)
{
	struct arena arena = {0};
	size_t size = 0;

	if (!dump->totals.reach.is_known)
		return make_error(501, "the dumps do not tell lost from reachable memory: start "
		                       "leakwrap serve with --kinds");
	char *body = render_sum(report, copy_kinds(&arena, dump, wish->kinds), wish->render, &size);
	arena_free(&arena);
	return make_reply(200, wish->type, body, size);
}

/* Answers with what changes over the seconds of WISH.  TARGET is asked for a dump before and after
 * them. */
static struct web_reply answer_difference(struct watch *watch, struct target *target,
                                          const struct wish *wish)
{
	struct web_reply reply = {0};

	if (!watch_renew(watch, &target, 1, watch_now(), wish->client))
		return answer_nobody();
	if (!has_dump(watch, target, &reply))
		return reply;
	const double began = watch_now();
	char *old = xmalloc(target->raw_size);
	size_t old_size = target->raw_size, size = 0;

	memcpy(old, target->raw, old_size);
	if (!watch_renew(watch, &target, 1, began + wish->seconds, wish->client)) {
		reply = answer_nobody();
	} else if (has_dump(watch, target, &reply)) {
		char *body = render_difference(target, old, old_size, watch_now() - began,
		                               wish->render, &size);
		reply = body ? make_reply(200, wish->type, body, size)
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
	struct wish wish;
	size_t size = 0;

	if (!read_wish(request, text, &wish, &reply))
		return reply;
	if (wish.seconds > 0)
		return answer_difference(watch, target, &wish);
	if (!update(watch, target, &reply))
		return reply;
	if (wish.kinds)
		return answer_kinds(target->report, watch_last(target), &wish);
	if (wish.is_text) {
		char *body = render_last(target, wish.render, &size);
		return make_reply(200, wish.type, body, size);
	}
	if (!target->profile)
		target->profile = render_profile(target, false, &target->profile_size);
	return make_copy(wish.type, target->profile, target->profile_size);
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
	FILE *stream = open_bytes(&body, &size);
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

/* Returns the longest interval of TARGETS. */
static double longest_interval(const struct watch *watch, struct target *const *targets,
                               size_t count)
{
	double longest = 0;
	for (size_t i = 0; i < count; i++) {
		double interval = watch_interval(watch, targets[i]);
		longest = interval > longest ? interval : longest;
	}
	return longest;
}

/* Returns after how many seconds a page of TARGETS asks again: the longest interval, within what is
 * useful to a browser. */
static unsigned live_seconds(const struct watch *watch, struct target *const *targets, size_t count)
{
	double interval = longest_interval(watch, targets, count);
	return interval < 1 ? 1 : interval < (double)SECONDS_MAX ? (unsigned)interval : SECONDS_MAX;
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
		char *body = render_live(target, live_seconds(watch, &target, 1), data, &size);
		return make_reply(200, data ? "application/json" : page_type, body, size);
	}
	if (strcmp(page, "dump") == 0)
		return make_copy(text_type, target->raw, target->raw_size);
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

/* -- several processes ------------------------------------------------------------------------- */

/* Asks those of TARGETS that are due, and waits. */
static void update_all(struct watch *watch, struct target **targets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		watch_want(watch, targets[i]);
	watch_wait(watch, targets, count);
}

static struct web_reply answer_dumps(struct target *const *targets, size_t count)
{
	char *body = NULL;
	size_t size = 0;
	FILE *stream = open_bytes(&body, &size);
	for (size_t i = 0; i < count; i++)
		if (targets[i]->raw)
			fwrite(targets[i]->raw, 1, targets[i]->raw_size, stream);
	fclose(stream);
	return make_reply(200, text_type, body, size);
}

/* Returns the sum of TARGETS, which stays for the next client while no dump comes. */
static struct sum *keep_sum(struct web *web, struct target *const *targets, size_t count)
{
	uint64_t state = count;
	for (size_t i = 0; i < count; i++) {
		state = hash_word(state, (uint64_t)targets[i]->pid);
		state = hash_word(state, targets[i]->started);
		state = hash_word(state, targets[i]->dumps);
	}
	if (!web->sum || web->sum_state != state) {
		sum_free(web->sum);
		web->sum = sum_make(web->watch, targets, count);
		web->sum_state = state;
	}
	return web->sum;
}

/* Answers that none of TARGETS has a dump. */
static struct web_reply answer_no_dump(struct target *const *targets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (targets[i]->error)
			return make_error(502, "%.*s", (int)strcspn(targets[i]->error, "\n"),
			                  targets[i]->error);
	return make_error(502, "%zu processes have sent no dump that can be read", count);
}

/* Answers with what changes in the processes that WHAT names, over the seconds of WISH.  A process
 * that starts or ends meanwhile counts, too. */
static struct web_reply answer_group_difference(struct web *web, const char *what,
                                                const struct wish *wish)
{
	struct watch *watch = web->watch;
	size_t count, size = 0;
	struct target **targets = watch_find(watch, what, &count);
	struct web_reply reply;

	bool stays = watch_renew(watch, targets, count, watch_now(), wish->client);
	const double began = watch_now();
	struct sum *old = sum_make(watch, targets, count);
	free(targets);
	stays = stays && watch_sleep(watch, began + wish->seconds, wish->client);
	watch_scan(watch);
	targets = watch_find(watch, what, &count);
	stays = stays && watch_renew(watch, targets, count, began + wish->seconds, wish->client);
	struct sum *new = sum_make(watch, targets, count);
	if (!stays) {
		reply = answer_nobody();
	} else if (watch->stopping) {
		reply = make_error(503, "the server ends");
	} else if (old && new) {
		char *body = render_change(&watch->report, old->dump, new->dump,
		                           watch_now() - began, wish->render, &size);
		reply = make_reply(200, wish->type, body, size);
	} else {
		reply = answer_no_dump(targets, count);
	}
	free(targets);
	sum_free(old);
	sum_free(new);
	return reply;
}

/* Answers for PAGE of the COUNT processes TARGETS, which WHAT names, together. */
static struct web_reply answer_group(struct web *web, const char *what, struct target **targets,
                                     size_t count, const char *page,
                                     const struct web_request *request)
{
	struct watch *watch = web->watch;
	const bool is_text = strcmp(page, "pprof/heap") == 0;
	const bool is_heap = is_text || strcmp(page, "debug/pprof/heap") == 0;
	struct web_reply reply;
	struct wish wish;
	size_t size = 0;

	if (is_heap && !read_wish(request, is_text, &wish, &reply))
		return reply;
	if (is_heap && wish.seconds > 0)
		return answer_group_difference(web, what, &wish);
	update_all(watch, targets, count);
	if (watch->stopping)
		return make_error(503, "the server ends");
	if (strcmp(page, "dump") == 0)
		return answer_dumps(targets, count);
	struct sum *sum = keep_sum(web, targets, count);
	if (!sum)
		return answer_no_dump(targets, count);
	if (!is_heap) {
		bool data = *page != '\0';
		char *body = render_live_sum(&watch->report, sum->dump,
		                             live_seconds(watch, targets, count), data, &size);
		return make_reply(200, data ? "application/json" : page_type, body, size);
	}
	if (wish.kinds)
		return answer_kinds(&watch->report, sum->dump, &wish);
	if (wish.is_text) {
		char *body = render_sum(&watch->report, sum->dump, wish.render, &size);
		return make_reply(200, wish.type, body, size);
	}
	if (!sum->profile)
		sum->profile =
		        render_sum(&watch->report, sum->dump, wish.render, &sum->profile_size);
	return make_copy(wish.type, sum->profile, sum->profile_size);
}

/* Returns whether PAGE shows several processes together. */
static bool is_group_page(const char *page)
{
	static const char *const pages[] = {"", "data.json", "dump", "debug/pprof/heap",
	                                    "pprof/heap"};
	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
		if (strcmp(page, pages[i]) == 0)
			return true;
	return false;
}

/* -- paths ------------------------------------------------------------------------------------- */

static struct web_reply answer_list(struct watch *watch)
{
	size_t count, size = 0;
	struct target **targets = watch_find(watch, NULL, &count);
	update_all(watch, targets, count);
	free(targets);
	char *body = render_list(watch, &size);
	return make_reply(200, page_type, body, size);
}

/* Answers for PAGE of the processes that WHAT names; NULL: of all. */
static struct web_reply answer_process(struct web *web, const char *what, const char *page,
                                       const struct web_request *request)
{
	struct watch *watch = web->watch;
	size_t count;
	struct target **targets = watch_find(watch, what, &count);
	struct web_reply reply;

	if (!is_target_page(page))
		reply = make_error(404, "there is no such page");
	else if (count == 1)
		reply = answer_target(watch, targets[0], page, request);
	else if (count > 1 && is_group_page(page))
		reply = answer_group(web, what, targets, count, page, request);
	else if (count > 1)
		reply = make_error(409, "%zu processes are served: /process/PID/%s names one",
		                   count, page);
	else
		reply = what ? make_error(404, "no traced process %s is served", what)
		             : make_error(404, "no process is traced");
	free(targets);
	return reply;
}

/* Returns what stands in PATH behind PREFIX, or NULL. */
static const char *behind(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);
	return strncmp(path, prefix, length) == 0 ? path + length : NULL;
}

/* Answers for the pages that are of no process, and finds the processes for the others. */
static struct web_reply answer_path(struct web *web, const struct web_request *request)
{
	struct watch *watch = web->watch;
	const char *path = request->path, *rest;
	size_t count, size = 0;

	if (strcmp(path, "/metrics") == 0 || strcmp(path, "/dumps") == 0) {
		struct target **targets = watch_find(watch, NULL, &count);
		struct web_reply reply;
		update_all(watch, targets, count);
		if (path[1] == 'd') {
			reply = answer_dumps(targets, count);
		} else {
			char *body = render_metrics(watch, &size);
			reply = make_reply(200, "text/plain; version=0.0.4; charset=utf-8", body,
			                   size);
		}
		free(targets);
		return reply;
	}
	if ((rest = behind(path, "/process/")) != NULL) {
		const char *slash = strchr(rest, '/');
		char *name = slash && slash > rest ? strndup(rest, (size_t)(slash - rest)) : NULL;
		struct web_reply reply = name ? answer_process(web, name, slash + 1, request)
		                              : make_error(404, "/process/PID/ names a process");
		free(name);
		return reply;
	}
	if ((rest = behind(path, "/all/")) != NULL)
		return answer_process(web, NULL, rest, request);
	if (*path != '/')
		return make_error(400, "the path must begin with a slash");
	if (path[1] == '\0') {
		free(watch_find(watch, NULL, &count));
		if (count != 1)
			return answer_list(watch);
	}
	return answer_process(web, NULL, path + 1, request);
}

struct web_reply web_answer(struct web *web, const struct web_request *request)
{
	pthread_mutex_lock(&web->watch->lock);
	watch_scan(web->watch);
	struct web_reply reply = answer_path(web, request);
	pthread_mutex_unlock(&web->watch->lock);
	return reply;
}
