/* watch.c - see watch.h. */
#include "tools/live/watch.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/clock.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/live/client.h"
#include "tools/live/request.h"
#include "tools/log/read_log.h"
#include "tools/symbolize/symbolize.h"

double watch_now(void)
{
	return (double)monotonic_ns() / 1e9;
}

/* -- processes --------------------------------------------------------------------------------- */

/* A process that was looked at.  Another program in it is looked at again. */
struct seen {
	pid_t pid;
	uint64_t started;
	dev_t device;
	ino_t file;
	bool traced, present;
};

/* Returns the time of the start of process PID (proc(5), field 22 of stat), 0 if there is none. */
static uint64_t start_time(pid_t pid)
{
	struct arena arena = {0};
	size_t size;
	const char *text = read_process_file(&arena, pid, "stat", &size);
	const char *at = text ? strrchr(text, ')') : NULL;
	uint64_t time = 0;
	if (at && at[1] == ' ' && at[2] != 'Z' && at[2] != 'X') {
		for (int field = 2; at && field < 22; field++)
			at = strchr(at + 1, ' ');
		time = at ? strtoull(at + 1, NULL, 10) : 0;
	}
	arena_free(&arena);
	return time;
}

/* Returns true if the user wants to see process PID.  *NAMED: by its number, or by its name though
 * its program's file cannot be read: then an error says so. */
static bool is_wanted(const struct watch *watch, pid_t pid, bool *named)
{
	const struct watch_options *options = &watch->options;
	struct arena arena = {0};
	const char *name = NULL, *command = NULL;
	bool wanted = options->wanted_count == 0;
	uint64_t number;

	*named = false;
	for (size_t i = 0; i < options->wanted_count && !wanted; i++) {
		if (parse_number(options->wanted[i], &number)) {
			wanted = *named = number == (uint64_t)pid;
			continue;
		}
		if (!name) {
			name = process_name(&arena, pid, false);
			command = process_name(&arena, pid, true);
		}
		wanted = strcmp(options->wanted[i], name) == 0 ||
		         strcmp(options->wanted[i], command) == 0;
		*named = wanted && !*name;
	}
	arena_free(&arena);
	return wanted;
}

/* Returns true if process PID is traced.  The answer is kept as long as it runs the program. */
static bool is_traced(struct watch *watch, pid_t pid, uint64_t started)
{
	struct arena arena = {0};
	struct stat status;
	const bool has_program = stat(process_path(&arena, pid, "exe"), &status) == 0;
	arena_free(&arena);
	if (!has_program)
		return false;
	struct seen *seen = NULL;
	for (size_t i = 0; i < watch->seen_count && !seen; i++)
		if (watch->seen[i].pid == pid)
			seen = &watch->seen[i];
	if (!seen) {
		GROW(watch->seen, watch->seen_room, watch->seen_count + 1);
		seen = &watch->seen[watch->seen_count++];
		*seen = (struct seen){.pid = pid};
	}
	seen->present = true;
	if (seen->started != started || seen->device != status.st_dev ||
	    seen->file != status.st_ino) {
		seen->started = started;
		seen->device = status.st_dev;
		seen->file = status.st_ino;
		seen->traced = process_is_traced(pid);
	}
	return seen->traced;
}

static struct target *target_of(const struct watch *watch, pid_t pid, uint64_t started)
{
	for (size_t i = 0; i < watch->target_count; i++)
		if (watch->targets[i]->pid == pid && watch->targets[i]->started == started)
			return watch->targets[i];
	return NULL;
}

static void free_target(struct target *target)
{
	history_free(&target->history);
	free(target->raw);
	free(target->error);
	free(target->profile);
	free(target);
}

/* Forgets processes that have ended, but for those that are just being asked. */
static void forget_ended(struct watch *watch)
{
	size_t kept = 0;
	for (size_t i = 0; i < watch->target_count; i++) {
		struct target *target = watch->targets[i];
		target->ended = start_time(target->pid) != target->started;
		if (target->ended && !target->wanted && !target->users) {
			watch->reading -= target->reading;
			watch->ended_count++;
			watch->ended_pid = target->pid;
			watch->ended_name = target->name;
			free_target(target);
		} else {
			watch->targets[kept++] = target;
		}
	}
	watch->target_count = kept;
	kept = 0;
	for (size_t i = 0; i < watch->seen_count; i++)
		if (watch->seen[i].present)
			watch->seen[kept++] = watch->seen[i];
	watch->seen_count = kept;
}

static void look_at(struct watch *watch, pid_t pid)
{
	bool named;
	uint64_t started = start_time(pid);
	if (!started || pid == getpid() || target_of(watch, pid, started) ||
	    !is_wanted(watch, pid, &named) || (!named && !is_traced(watch, pid, started)))
		return;
	struct target *target = xzalloc(sizeof *target);
	struct arena arena = {0};
	target->pid = pid;
	target->started = started;
	target->report = &watch->report;
	const char *name = process_name(&arena, pid, false);
	target->name = intern_text(&watch->strings, *name ? name : process_name(&arena, pid, true));
	arena_free(&arena);
	GROW(watch->targets, watch->target_room, watch->target_count + 1);
	watch->targets[watch->target_count++] = target;
}

void watch_scan(struct watch *watch)
{
	double now = watch_now();
	if (watch->scanned_at > 0 && now - watch->scanned_at < 1)
		return;
	watch->scanned_at = now;
	for (size_t i = 0; i < watch->seen_count; i++)
		watch->seen[i].present = false;
	DIR *processes = opendir("/proc");
	for (struct dirent *one; processes && (one = readdir(processes)) != NULL;)
		if (isdigit((unsigned char)one->d_name[0]))
			look_at(watch, (pid_t)strtol(one->d_name, NULL, 10));
	if (processes)
		closedir(processes);
	forget_ended(watch);
}

/* -- asking ------------------------------------------------------------------------------------ */

/* A target that is being asked for a dump. */
struct asked {
	struct asked *next; /* in a list */
	struct target *target;
	struct request request;
	double waiting; /* seconds of a processor to look for the dump */
};

struct taking {
	struct watch *watch;
	struct target *target;
	double naming;      /* seconds of a processor for the names of new stacks */
	bool taken;         /* a dump that is whole */
	const char *damage; /* of a dump that is not, or NULL */
};

/* Returns how many seconds of a processor this thread has taken. */
static double thread_time(void)
{
	struct timespec time = {0};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void take_dump(void *context, const struct parsed_dump *parsed)
{
	struct taking *taking = context;
	struct watch *watch = taking->watch;
	struct target *target = taking->target;

	if (parsed->damage)
		taking->damage = parsed->damage;
	if (parsed->misused || parsed->damage)
		return;
	struct report *report = &watch->report;
	size_t stacks = report->stack_count, locations = report->location_count;
	history_add(&target->history, report, parsed, watch->options.dumps_kept);
	taking->taken = true;
	/* The stack of a crash has locations, but is not among the stacks of the report. */
	if (report->stack_count == stacks && report->location_count == locations)
		return;
	double began = thread_time();
	symbolize(report, &watch->options.search);
	find_askers(report, &watch->options.skips);
	taking->naming += thread_time() - began;
}

/* Reads the dump that ASKED got.  Returns false after a message if it is damaged. */
static bool read_dump(struct watch *watch, struct asked *asked)
{
	const struct request *request = &asked->request;
	struct target *target = asked->target;
	struct taking taking = {.watch = watch, .target = target};
	double began = thread_time();
	char *unused = NULL;
	size_t size;
	FILE *warnings = open_bytes(&unused, &size);

	send_complaints(warnings);
	parse_text(request->raw, request->raw_size, take_dump, &taking);
	send_complaints(request->errors);
	if (!taking.taken)
		complain("the dump of process %d is damaged%s%s", target->pid,
		         taking.damage ? ": " : "", taking.damage ? taking.damage : "");
	send_complaints(NULL);
	fclose(warnings);
	free(unused);
	watch->reading -= target->reading;
	target->reading = asked->waiting + thread_time() - began - taking.naming;
	watch->reading += target->reading;
	return taking.taken;
}

/* Gives the target of ASKED what came of the request. */
static void finish_request(struct watch *watch, struct asked *asked)
{
	struct request *request = &asked->request;
	struct target *target = asked->target;
	const bool taken = request->raw && read_dump(watch, asked);

	free(target->error);
	target->error = request_take_error(request);
	if (taken) {
		free(target->raw);
		free(target->profile);
		target->profile = NULL;
		target->raw = request->raw;
		target->raw_size = request->raw_size;
		target->dumps++;
		target->came_at = watch_now();
	} else {
		free(request->raw);
	}
	target->tries++;
	target->is_late = request->is_late;
	target->wanted = target->is_asked = false;
}

/* Returns the list ASKED with each wanted target that is not in it. */
static struct asked *add_wanted(const struct watch *watch, struct asked *asked)
{
	for (size_t i = 0; i < watch->target_count; i++) {
		struct target *target = watch->targets[i];
		if (!target->wanted || target->is_asked)
			continue;
		struct asked *one = xzalloc(sizeof *one);
		one->target = target;
		one->next = asked;
		asked = one;
		target->is_asked = true;
	}
	return asked;
}

/* Goes on with the requests of the list ASKED, and finishes those that are done or have waited for
 * TIMEOUT seconds.  Returns the list of the others. */
static struct asked *go_on(struct watch *watch, struct asked *asked, double timeout)
{
	for (struct asked **at = &asked; *at;) {
		struct asked *one = *at;
		struct request *request = &one->request;
		const double began = thread_time();
		if (request->began > 0)
			request_go_on(request, watch->options.kinds, watch_now(), timeout);
		else
			request_begin(request, one->target->pid, watch_now());
		one->waiting += thread_time() - began;
		if (request->waits) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		pthread_mutex_lock(&watch->lock);
		finish_request(watch, one);
		pthread_cond_broadcast(&watch->changed);
		pthread_mutex_unlock(&watch->lock);
		request_free(request);
		free(one);
	}
	return asked;
}

/* Asks all wanted targets, also those that are wanted meanwhile, and finishes each as its dump
 * comes.  The lock is held on entry and on return, but not while the processes work. */
static void ask_wanted(struct watch *watch)
{
	struct asked *asked = add_wanted(watch, NULL);
	struct timespec pause = {.tv_nsec = 1000000};
	double timeout = watch->options.timeout;

	while (asked) {
		pthread_mutex_unlock(&watch->lock);
		asked = go_on(watch, asked, timeout);
		if (asked)
			nanosleep(&pause, NULL);
		if (pause.tv_nsec < 16000000)
			pause.tv_nsec *= 2;
		pthread_mutex_lock(&watch->lock);
		asked = add_wanted(watch, asked);
		if (watch->stopping)
			timeout = 0;
	}
}

static bool has_wanted(const struct watch *watch)
{
	for (size_t i = 0; i < watch->target_count; i++)
		if (watch->targets[i]->wanted)
			return true;
	return false;
}

static void *run(void *argument)
{
	struct watch *watch = argument;
	pthread_mutex_lock(&watch->lock);
	while (!watch->stopping) {
		if (has_wanted(watch))
			ask_wanted(watch);
		else
			pthread_cond_wait(&watch->asked, &watch->lock);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

/* -- for the callers --------------------------------------------------------------------------- */

void watch_start(struct watch *watch, const struct watch_options *options)
{
	*watch = (struct watch){.options = *options};
	watch->strings.arena = &watch->arena;
	report_start(&watch->report);
	pthread_mutex_init(&watch->lock, NULL);
	pthread_cond_init(&watch->asked, NULL);
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&watch->thread, NULL, run, watch) != 0)
		die("no thread can be started");
}

void watch_stop(struct watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	watch->stopping = true;
	pthread_cond_broadcast(&watch->asked);
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	for (size_t i = 0; i < watch->target_count; i++)
		free_target(watch->targets[i]);
	report_free(&watch->report);
	free(watch->targets);
	free(watch->seen);
	table_free(&watch->strings.table);
	arena_free(&watch->arena);
	pthread_mutex_destroy(&watch->lock);
	pthread_cond_destroy(&watch->changed);
	pthread_cond_destroy(&watch->asked);
}

/* A program spends at most a fiftieth of its time on dumps. */
enum { TIMES_DUMP = 50 };

/* Returns what watch_interval would return if the user had chosen no interval. */
static double shortest_interval(const struct watch *watch, const struct target *target)
{
	const struct dump *last = watch_last(target);
	double least = last && last->totals.dump_ns > 0
	                       ? (double)TIMES_DUMP * (double)last->totals.dump_ns / 1e9
	                       : 0;
	if (watch->options.reading_share > 0)
		least = fmax(least, watch->reading / watch->options.reading_share);
	return least;
}

double watch_interval(const struct watch *watch, const struct target *target)
{
	return fmax(shortest_interval(watch, target), watch->options.interval);
}

/* Asks the thread for a dump of TARGET at the time NOW, unless it asks for one already. */
static void want(struct watch *watch, struct target *target, double now)
{
	if (target->wanted || watch->stopping)
		return;
	target->asked_at = now;
	target->wanted = true;
	pthread_cond_signal(&watch->asked);
}

void watch_want(struct watch *watch, struct target *target)
{
	double now = watch_now();
	if (target->asked_at <= 0 || now - target->asked_at >= watch_interval(watch, target))
		want(watch, target, now);
}

void watch_wait(struct watch *watch, struct target **targets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		targets[i]->users++;
	for (size_t i = 0; i < count; i++)
		while (targets[i]->wanted && !targets[i]->is_late && !watch->stopping)
			pthread_cond_wait(&watch->changed, &watch->lock);
	for (size_t i = 0; i < count; i++)
		targets[i]->users--;
}

bool watch_sleep(struct watch *watch, double when, int client)
{
	while (!watch->stopping && watch_now() < when) {
		const double wake = fmin(when, watch_now() + 1);
		const struct timespec until = {(time_t)wake, (long)(fmod(wake, 1) * 1e9)};
		if (client_has_left(client))
			return false;
		pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
	}
	return true;
}

/* Returns when all of the COUNT targets that were not asked since WHEN may be asked. */
static double time_to_ask(const struct watch *watch, struct target *const *targets, size_t count,
                          double when)
{
	double due = when;
	for (size_t i = 0; i < count; i++)
		if (targets[i]->asked_at < when)
			due = fmax(due,
			           targets[i]->asked_at + shortest_interval(watch, targets[i]));
	return due;
}

bool watch_renew(struct watch *watch, struct target **targets, size_t count, double when,
                 int client)
{
	bool stays = true;
	double due;

	for (size_t i = 0; i < count; i++)
		targets[i]->users++;
	watch_wait(watch, targets, count);
	/* Others may ask meanwhile. */
	while (stays && !watch->stopping &&
	       (due = time_to_ask(watch, targets, count, when)) > watch_now())
		stays = watch_sleep(watch, due, client);
	for (size_t i = 0; stays && i < count; i++)
		if (targets[i]->asked_at < when)
			want(watch, targets[i], watch_now());
	if (stays)
		watch_wait(watch, targets, count);
	for (size_t i = 0; i < count; i++)
		targets[i]->users--;
	return stays;
}

const struct dump *watch_last(const struct target *target)
{
	return target->history.count ? target->history.dumps[target->history.count - 1] : NULL;
}

struct target **watch_find(const struct watch *watch, const char *what, size_t *count)
{
	struct target **found = xmalloc((watch->target_count + 1) * sizeof *found);
	uint64_t number;
	bool numeric = what && parse_number(what, &number);
	*count = 0;
	for (size_t i = 0; i < watch->target_count; i++) {
		struct target *target = watch->targets[i];
		if (target->ended || (what && (numeric ? number != (uint64_t)target->pid
		                                       : strcmp(what, target->name) != 0)))
			continue;
		found[(*count)++] = target;
	}
	return found;
}
