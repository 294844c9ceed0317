/* watch.h - traced processes that are asked for dumps again and again.
 *
 * A thread of its own asks all processes that are due, at once, and reads their dumps.  Everything
 * that a struct watch points to is guarded by its lock.
 */
#ifndef TOOLS_LIVE_WATCH_H
#define TOOLS_LIVE_WATCH_H

#include <pthread.h>

#include "tools/base/memory.h"
#include "tools/base/table.h"
#include "tools/model/askers.h"
#include "tools/model/history.h"
#include "tools/symbolize/search.h"

struct watch_options {
	const char **wanted; /* process ids and names of programs; none: every traced process */
	size_t wanted_count;
	double interval;   /* the least seconds between two dumps of a process */
	double timeout;    /* for how many seconds a dump is waited for */
	size_t dumps_kept; /* of each process */
	bool kinds;        /* ask for dumps that tell lost from reachable memory */
	/* The intervals become longer, so that reading all dumps takes at most this share of a
	 * processor's time; 0: they do not. */
	double reading_share;
	struct search search;
	struct skips skips;
};

struct target {
	pid_t pid;
	uint64_t started; /* the time of its start, as in /proc/PID/stat */
	const char *name; /* of its program's file */
	bool ended;
	bool wanted;           /* a dump of it is asked for */
	bool is_asked;         /* and the thread has begun to ask */
	bool is_late;          /* the last request was not answered in time */
	unsigned users;        /* callers that let go of the lock and come back to it */
	struct report *report; /* of the watch */
	struct history history;
	char *raw; /* the text of the last dump, which is whole */
	size_t raw_size;
	unsigned dumps;  /* that came so far */
	unsigned tries;  /* that ended, with a dump or with an error */
	double asked_at; /* in seconds of watch_now; 0: never */
	double came_at;  /* when the last dump came */
	/* Seconds of a processor to find and read the last dump, without names of new stacks. */
	double reading;
	char *error; /* why the last try failed, a line, or NULL */
	/* A profile of the last dump that a client asked for, or NULL. */
	char *profile;
	size_t profile_size;
};

struct watch {
	struct watch_options options;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a try ended, or STOPPING */
	pthread_cond_t asked;   /* a target is wanted, or STOPPING */
	pthread_t thread;
	bool stopping;
	struct target **targets; /* in the order in which they were found */
	size_t target_count, target_room;
	/* The processes that were targets and have ended: how many, and the last of them. */
	size_t ended_count;
	pid_t ended_pid;
	const char *ended_name;
	double reading;       /* the sum of the targets' */
	struct report report; /* what the dumps of all targets share */
	double scanned_at;
	struct seen *seen; /* processes that were looked at */
	size_t seen_count, seen_room;
	struct arena arena;
	struct strings strings;
};

/* Returns seconds of a clock that does not jump. */
double watch_now(void);

/* Starts WATCH.  OPTIONS must outlive it. */
void watch_start(struct watch *watch, const struct watch_options *options);

/* Ends the thread and frees everything. */
void watch_stop(struct watch *watch);

/* The functions that follow want the lock. */

/* Looks for processes that have started or ended, at most once a second. */
void watch_scan(struct watch *watch);

/* Returns the seconds that must lie between two dumps of TARGET.  A program spends at most a
 * fiftieth of its time on dumps; reading_share may make the interval longer. */
double watch_interval(const struct watch *watch, const struct target *target);

/* Asks the thread for a dump of TARGET, unless the last one is younger than its interval. */
void watch_want(struct watch *watch, struct target *target);

/* Asks for a dump of each of the COUNT targets that were not asked since WHEN, in seconds of
 * watch_now.  Asks as soon as their shortest intervals allow, but not before WHEN.  Waits for the
 * dumps as watch_wait does.  Returns false, and asks no more, if CLIENT leaves before they are
 * asked. */
bool watch_renew(struct watch *watch, struct target **targets, size_t count, double when,
                 int client);

/* Sleeps until WHEN with the lock released, and wakes up early when the watch ends.  Returns false
 * within about a second if CLIENT leaves: the socket of the client that waits, or -1. */
bool watch_sleep(struct watch *watch, double when, int client);

/* Waits until no one of the COUNT targets is wanted any more.  Does not wait for those that are
 * late.  Lets go of the lock meanwhile. */
void watch_wait(struct watch *watch, struct target **targets, size_t count);

/* Returns the last dump of TARGET, or NULL. */
const struct dump *watch_last(const struct target *target);

/* Returns the live targets with the process id or the name WHAT, or all if WHAT is NULL.  *COUNT is
 * their number.  The caller frees the vector. */
struct target **watch_find(const struct watch *watch, const char *what, size_t *count);

#endif
