/* push.c - the command push: sends profiles of running programs to a server of profiles.
 *
 * A request is a file of the queue until the server has taken it.  The file has the path, the type
 * of the body and the body, the first two in a line each.  Its name numbers the request, so that
 * the oldest is sent first.  A queue that is too large loses its oldest requests.
 */
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/command/commands.h"

#if __has_include(<curl/curl.h>)

#include <argp.h>
#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/command/options.h"
#include "tools/live/profile.h"
#include "tools/live/push.h"

enum {
	KEY_TO = 0x300,
	KEY_PROTOCOL,
	KEY_LABEL,
	KEY_TENANT,
	KEY_INTERVAL,
	KEY_QUEUE,
	KEY_QUEUE_BYTES,
	KEY_RAW,
	KEY_COUNT,
	LABELS_MAX = 32,
	SECONDS_MAX_WAIT = 300, /* between two tries to reach the server */
};

struct push {
	struct watch_options options;
	size_t wanted_room;
	const char *to, *tenant, *queue;
	enum push_protocol protocol;
	struct label labels[LABELS_MAX];
	size_t label_count;
	uint64_t queue_bytes, count;
	bool addresses_only;
	struct watch watch;
	struct arena arena;
	CURL *curl;
	double wait, next_try; /* the back-off, and when the server is tried again */
	bool complained;       /* that the server cannot be reached */
	bool unread;           /* a file of the queue could not be read in this round */
	bool complained_unread;
	bool waits;    /* no process was there at the last look */
	bool has_lost; /* a profile was dropped */
};

static volatile sig_atomic_t ended;

static void end(int number)
{
	ended = number;
}

/* -- options ----------------------------------------------------------------------------------- */

/* Returns true if NAME may be the name of a label for both servers. */
static bool is_label_name(const char *name, size_t length)
{
	return length > 0 && !(*name >= '0' && *name <= '9') &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
	               length;
}

static void add_label(struct push *push, const struct argp_state *state, char *argument)
{
	char *equals = strchr(argument, '=');
	if (!equals || !is_label_name(argument, (size_t)(equals - argument)) ||
	    strpbrk(equals + 1, "{},=\"\n")) {
		argp_error(state,
		           "--label=%s: must be NAME=VALUE: a name of letters, digits and _, and a "
		           "value without {},=\"",
		           argument);
		return;
	}
	if (push->label_count == LABELS_MAX - 1) /* one is left for the process id */
		argp_error(state, "more than %d labels", LABELS_MAX - 1);
	*equals = '\0';
	push->labels[push->label_count++] = (struct label){argument, equals + 1};
}

/* Returns whether TO may be the URL of a server.  Without a scheme libcurl takes http. */
static bool is_server(const char *to)
{
	return strncasecmp(to, "http://", 7) == 0 || strncasecmp(to, "https://", 8) == 0 ||
	       !strstr(to, "://");
}

static error_t parse_push(int key, char *argument, struct argp_state *state)
{
	struct push *push = state->input;
	switch (key) {
	case KEY_TO:
		push->to = option_text(state, "to", argument);
		if (!is_server(push->to))
			argp_error(state, "--to=%s: must begin with http:// or https://", argument);
		break;
	case KEY_PROTOCOL:
		if (strcmp(argument, "parca") != 0 && strcmp(argument, "pyroscope") != 0)
			argp_error(state, "--protocol=%s: must be pyroscope or parca", argument);
		push->protocol = strcmp(argument, "parca") == 0 ? PUSH_PARCA : PUSH_PYROSCOPE;
		break;
	case KEY_LABEL:
		add_label(push, state, argument);
		break;
	case KEY_TENANT:
		push->tenant = argument;
		break;
	case KEY_INTERVAL:
		push->options.interval = (double)option_seconds(state, "interval", argument, 1);
		break;
	case KEY_QUEUE:
		push->queue = argument;
		break;
	case KEY_QUEUE_BYTES:
		push->queue_bytes = option_size(state, "queue-bytes", argument);
		break;
	case KEY_RAW:
		push->addresses_only = true;
		break;
	case KEY_COUNT:
		if (!parse_number(argument, &push->count) || push->count == 0)
			argp_error(state, "--count=%s: must be a number from 1", argument);
		break;
	case 'k':
		push->options.kinds = true;
		break;
	case ARGP_KEY_ARG:
		GROW(push->options.wanted, push->wanted_room, push->options.wanted_count + 1);
		push->options.wanted[push->options.wanted_count++] = argument;
		break;
	case ARGP_KEY_END:
		if (!push->to || !push->queue)
			argp_error(state, "--to and --queue are needed");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* -- the queue --------------------------------------------------------------------------------- */

#define HALF_WRITTEN ".part"

enum { HALF_WRITTEN_SECONDS = 3600 };

static int is_queued(const struct dirent *entry)
{
	return strncmp(entry->d_name, "profile-", 8) == 0 && !strchr(entry->d_name, '.');
}

static int is_half_written(const struct dirent *entry)
{
	const char *end = strchr(entry->d_name, '.');
	return strncmp(entry->d_name, "profile-", 8) == 0 && end && strcmp(end, HALF_WRITTEN) == 0;
}

/* Returns the sorted names in the queue's folder that IS_WANTED accepts, *COUNT of them, as scandir
 * does.  Ends the tool with a message if the folder cannot be read: what waits there would be taken
 * for sent. */
static struct dirent **list_files(const struct push *push,
                                  int (*is_wanted)(const struct dirent *entry), int *count)
{
	struct dirent **names = NULL;
	*count = scandir(push->queue, &names, is_wanted, alphasort);
	if (*count < 0)
		die("--queue=%s: %s", push->queue, strerror(errno));
	return names;
}

static struct dirent **list_queue(const struct push *push, int *count)
{
	return list_files(push, is_queued, count);
}

static void free_list(struct dirent **names, int count)
{
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* Removes what a killed push was writing.  Another push may be writing to the queue now. */
static void remove_half_written(struct push *push)
{
	int count;
	struct dirent **names = list_files(push, is_half_written, &count);
	for (int i = 0; i < count; i++) {
		char *path = arena_format(&push->arena, "%s/%s", push->queue, names[i]->d_name);
		struct stat status;
		if (stat(path, &status) == 0 && time(NULL) - status.st_mtime > HALF_WRITTEN_SECONDS)
			unlink(path);
	}
	free_list(names, count);
}

/* Removes the oldest requests until the queue is small enough. */
static void shorten_queue(struct push *push)
{
	int count;
	struct dirent **names = list_queue(push, &count);
	uint64_t bytes = 0;
	unsigned long dropped = 0;
	for (int i = count; i-- > 0;) {
		char *path = arena_format(&push->arena, "%s/%s", push->queue, names[i]->d_name);
		struct stat status;
		if (stat(path, &status) == 0)
			bytes += (uint64_t)status.st_size;
		if (bytes > push->queue_bytes && unlink(path) == 0)
			dropped++;
	}
	free_list(names, count);
	if (dropped)
		complain("the queue is full: %lu profile%s dropped", dropped,
		         dropped == 1 ? " was" : "s were");
	push->has_lost |= dropped != 0;
}

/* Returns a number for the next request, above those of all that wait.  The time would not do: a
 * clock may go back. */
static uint64_t next_number(const struct push *push)
{
	int count;
	struct dirent **names = list_queue(push, &count);
	uint64_t number = count ? strtoull(names[count - 1]->d_name + 8, NULL, 10) + 1 : 1;
	free_list(names, count);
	return number;
}

/* Writes REQUEST to the queue.  A half-written file has another name, and is never sent. */
static void enqueue(struct push *push, const struct push_request *request)
{
	char *path = arena_format(&push->arena, "%s/profile-%012" PRIu64 "-%d", push->queue,
	                          next_number(push), getpid());
	char *part = arena_format(&push->arena, "%s" HALF_WRITTEN, path);
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!stream) {
		complain("%s: %s: a profile is lost", part, strerror(errno));
		push->has_lost = true;
		return;
	}
	fprintf(stream, "%s\n%s\n", request->path, request->type);
	fwrite(request->body, 1, request->size, stream);
	bool failed = ferror(stream) != 0;
	failed |= fclose(stream) != 0;
	if (failed || rename(part, path) != 0) {
		complain("%s: %s: a profile is lost", path, strerror(errno));
		push->has_lost = true;
		unlink(part);
	}
}

/* -- sending ----------------------------------------------------------------------------------- */

static size_t ignore_answer(char *bytes, size_t size, size_t count, void *unused)
{
	(void)bytes, (void)unused;
	return size * count;
}

/* Returns whether the tool is to end.  That ends the transfer (CURLOPT_XFERINFOFUNCTION(3)). */
static int is_to_end(void *unused, curl_off_t down, curl_off_t downloaded, curl_off_t up,
                     curl_off_t uploaded)
{
	(void)unused, (void)down, (void)downloaded, (void)up, (void)uploaded;
	return ended != 0;
}

/* Sends the BODY of SIZE bytes.  Returns the status of HTTP, 0 if there is no answer; then *ERROR
 * says why. */
static long post(struct push *push, const char *path, const char *type, const char *body,
                 size_t size, const char **error)
{
	CURL *curl = push->curl;
	struct curl_slist *headers = NULL;
	long status = 0;

	headers = curl_slist_append(headers, arena_format(&push->arena, "Content-Type: %s", type));
	if (push->tenant)
		headers = curl_slist_append(
		        headers, arena_format(&push->arena, "X-Scope-OrgID: %s", push->tenant));
	headers = curl_slist_append(headers, "Expect:");
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_URL, arena_format(&push->arena, "%s%s", push->to, path));
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore_answer);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_to_end);
	CURLcode code = curl_easy_perform(curl);
	if (code == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	*error = curl_easy_strerror(code);
	curl_slist_free_all(headers);
	return status;
}

/* Returns the text of the file PATH, of *SIZE bytes, which the caller frees.  Returns NULL with
 * errno set if it cannot be read to its end. */
static char *read_queued(const char *path, size_t *size)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t got;
	int fd = open_regular(path);
	if (fd < 0)
		return NULL;
	*size = 0;
	do {
		GROW(text, room, *size + 65536);
		got = read(fd, text + *size, room - *size - 1);
		*size += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	int error = errno;
	close(fd);
	text[*size] = '\0';
	if (got == 0)
		return text;
	free(text);
	errno = error;
	return NULL;
}

/* Notes that the file PATH cannot be read, and why.  Says it once as long as it cannot. */
static void note_unread(struct push *push, const char *path)
{
	if (errno == ENOENT) /* another push has sent it meanwhile */
		return;
	if (!push->complained_unread)
		complain("%s: %s: it stays in the queue", path, strerror(errno));
	push->unread = true;
}

/* Returns whether a server that answers STATUS refuses the profile itself (RFC 9110, sections 15.5
 * and 15.6).  Other errors are the server's or a proxy's, or somebody mends them: the profile is
 * sent again. */
static bool is_refusal(long status)
{
	return status == 400 || status == 413 || status == 415 || status == 422;
}

/* Says that profiles wait: the server answered STATUS, or 0 if it did not answer, because of ERROR.
 * Says so once until the server has taken all of them. */
static void note_waiting(struct push *push, long status, const char *error)
{
	const char *other = NULL;

	if (push->complained || ended)
		return;
	push->complained = true;
	curl_easy_getinfo(push->curl, CURLINFO_REDIRECT_URL, &other);
	if (status == 0)
		complain("%s: %s: profiles wait in %s", push->to, error, push->queue);
	else if (other)
		complain("%s answers %ld, and sends to %s: profiles wait in %s", push->to, status,
		         other, push->queue);
	else
		complain("%s answers %ld: profiles wait in %s", push->to, status, push->queue);
}

/* Sends the request in the file PATH.  Returns false if the server is to be tried later. */
static bool send_queued(struct push *push, const char *path)
{
	size_t size;
	const char *error;
	char *text = read_queued(path, &size);
	char *type = text ? strchr(text, '\n') : NULL, *body = type ? strchr(type + 1, '\n') : NULL;

	if (!text) {
		note_unread(push, path);
		return true;
	}
	if (!body) {
		complain("%s is not of the queue, and is removed", path);
		unlink(path);
		free(text);
		return true;
	}
	*type++ = '\0';
	*body++ = '\0';
	long status = post(push, text, type, body, size - (size_t)(body - text), &error);
	free(text);
	if ((status < 200 || status >= 300) && !is_refusal(status)) {
		note_waiting(push, status, error);
		return false;
	}
	if (is_refusal(status)) {
		complain("%s refuses a profile, which is lost: status %ld", push->to, status);
		push->has_lost = true;
	}
	unlink(path);
	return true;
}

/* Sends what is in the queue, unless the server has failed a short time ago. */
static void send_queue(struct push *push)
{
	int count;
	if (watch_now() < push->next_try)
		return;
	struct dirent **names = list_queue(push, &count);
	bool fine = true;
	push->unread = false;
	for (int i = 0; i < count && fine && !ended; i++)
		fine = send_queued(
		        push, arena_format(&push->arena, "%s/%s", push->queue, names[i]->d_name));
	free_list(names, count);
	push->wait = fine ? 0 : push->wait > 0 ? 2 * push->wait : 1;
	if (push->wait > (double)SECONDS_MAX_WAIT)
		push->wait = SECONDS_MAX_WAIT;
	push->next_try = watch_now() + push->wait;
	push->complained = push->complained && !fine;
	push->complained_unread = push->unread || (push->complained_unread && !fine);
}

/* -- the loop ---------------------------------------------------------------------------------- */

/* Puts a profile of each process that is due into the queue.  Returns when the processes had been
 * asked: the search for them may take seconds. */
static double take_profiles(struct push *push)
{
	struct watch *watch = &push->watch;
	pthread_mutex_lock(&watch->lock);
	watch_scan(watch);
	size_t count = watch->target_count;
	if (count == 0 && !push->waits)
		complain("no such traced process runs yet");
	push->waits = count == 0;
	struct target **targets = xmalloc((count + 1) * sizeof *targets);
	unsigned *dumps = xmalloc((count + 1) * sizeof *dumps);
	for (size_t i = 0; i < count; i++) {
		targets[i] = watch->targets[i];
		dumps[i] = targets[i]->dumps;
		watch_want(watch, targets[i]);
	}
	const double asked_at = watch_now();
	watch_wait(watch, targets, count);
	for (size_t i = 0; i < count; i++) {
		const struct target *target = targets[i];
		if (target->error)
			complain("%s", target->error);
		if (target->dumps == dumps[i] || !watch_last(target))
			continue;
		int64_t now = time(NULL);
		struct pushed pushed = {.name = target->name,
		                        .labels = push->labels,
		                        .label_count = push->label_count + 1,
		                        .from = now - (int64_t)push->options.interval,
		                        .until = now};
		push->labels[push->label_count] =
		        (struct label){"pid", arena_format(&push->arena, "%d", target->pid)};
		char *profile = render_profile(target, push->addresses_only, &pushed.size);
		pushed.profile = profile;
		struct push_request request = push_request_make(push->protocol, &pushed);
		enqueue(push, &request);
		push_request_free(&request);
		free(profile);
	}
	free(targets);
	free(dumps);
	pthread_mutex_unlock(&watch->lock);
	return asked_at;
}

static const struct argp_option push_table[] = {
        {"to", KEY_TO, "URL", 0, "The server, such as http://localhost:4040", 0},
        {"protocol", KEY_PROTOCOL, "NAME", 0, "pyroscope (default) or parca", 0},
        {"label", KEY_LABEL, "NAME=VALUE", 0, "A label of each profile; may be repeated", 0},
        {"tenant", KEY_TENANT, "ID", 0, "The tenant, for the header X-Scope-OrgID", 0},
        {"interval", KEY_INTERVAL, "SECONDS", 0,
         "The time between two profiles of a process (default 30)", 0},
        {"kinds", 'k', 0, 0, "Ask for dumps that tell lost from reachable memory", 0},
        {"queue", KEY_QUEUE, "DIR", 0, "A folder for profiles that are not sent yet", 0},
        {"queue-bytes", KEY_QUEUE_BYTES, "N[K|M|G]", 0,
         "How large the queue may become (default 64M); then the oldest profiles go", 0},
        {"addresses", KEY_RAW, 0, 0, "Send addresses and build-ids alone: the server symbolizes",
         0},
        {"count", KEY_COUNT, "N", 0, "End after N rounds", 0},
        {0},
};

static const struct argp push_argp = {
        .options = push_table,
        .parser = parse_push,
        .args_doc = "[PID|NAME...]",
        .doc = "Sends profiles of running programs to Grafana Pyroscope or Parca."
               "\vPID is a process, NAME the name of a program.  Without either, profiles "
               "of all traced processes are sent that this user may ask.\n\n"
               "  leakwrap push --to=http://localhost:4040 --queue=/var/spool/leakwrap",
};

int command_push(int argc, char **argv)
{
	struct push push = {.options = {.interval = 30, .timeout = 10, .dumps_kept = 1},
	                    .queue_bytes = UINT64_C(64) << 20};
	const struct sigaction action = {.sa_handler = end};
	const struct timespec pause = {.tv_nsec = 200000000};

	argp_parse(&push_argp, argc, argv, 0, NULL, &push);
	struct stat status;
	if (stat(push.queue, &status) == 0 && !S_ISDIR(status.st_mode))
		die("--queue=%s: %s", push.queue, strerror(ENOTDIR));
	if (access(push.queue, R_OK | W_OK | X_OK) != 0)
		die("--queue=%s: %s", push.queue, strerror(errno));
	curl_global_init(CURL_GLOBAL_DEFAULT);
	push.curl = curl_easy_init();
	if (!push.curl)
		die("libcurl does not start");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	watch_start(&push.watch, &push.options);
	remove_half_written(&push);
	double next = 0;
	for (uint64_t rounds = 0; !ended && (!push.count || rounds < push.count);) {
		if (watch_now() >= next) {
			next = take_profiles(&push) + push.options.interval;
			shorten_queue(&push);
			rounds++;
		}
		send_queue(&push);
		arena_reset(&push.arena);
		if (!push.count || rounds < push.count)
			nanosleep(&pause, NULL);
	}
	watch_stop(&push.watch);
	curl_easy_cleanup(push.curl);
	curl_global_cleanup();
	int left;
	struct dirent **names = list_queue(&push, &left);
	free_list(names, left);
	arena_free(&push.arena);
	free(push.options.wanted);
	return left || push.has_lost ? STATUS_USAGE : STATUS_FINE;
}

#else

int command_push(int argc, char **argv)
{
	(void)argc, (void)argv;
	complain("this leakwrap was built without libcurl: install libcurl4-openssl-dev, and build "
	         "it again after make clean");
	return STATUS_USAGE;
}

#endif
