/* demangle.c - see demangle.h.
 *
 * The child takes one name in each message, and answers with one message.  The kernel ends a child
 * that runs out of time.  The next name gets a new child.
 */
#include "tools/symbolize/demangle.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"

#if __has_include(<libiberty/demangle.h>)
#define HAS_LIBIBERTY 1
/* Of libiberty's demangle.h, which cannot be included: it declares xmalloc as base/memory.h does.
 * Without OPTIONS a name has no hash.  Returns 0 on failure. */
int rust_demangle_callback(const char *mangled, int options,
                           void (*take)(const char *piece, size_t length, void *context),
                           void *context);
/* Returns the name, which the caller frees, or NULL on failure.  There are no OPTIONS. */
char *dlang_demangle(const char *mangled, int options);
/* For C++, with the OPTIONS below.  Returns 0 on failure. */
int cplus_demangle_v3_callback(const char *mangled, int options,
                               void (*take)(const char *piece, size_t length, void *context),
                               void *context);
/* DMGL_PARAMS, DMGL_ANSI and DMGL_NO_RECURSE_LIMIT. */
enum { CXX_OPTIONS = 1 << 0 | 1 << 1 | 1 << 18 };
#else
#define HAS_LIBIBERTY 0
#endif

/* The C++ ABI's own demangler (Itanium C++ ABI, 3.4), from libsupc++.a, which comes with g++.  This
 * form of it allocates no memory: it hands the name over in pieces.  Returns 0 on success. */
int __gcclibcxx_demangle_callback(const char *mangled,
                                  void (*take)(const char *piece, size_t length, void *context),
                                  void *context);

enum {
	NAME_LIMIT = 32 * 1024,  /* bytes of a mangled name */
	PLAIN_LIMIT = 64 * 1024, /* bytes of a demangled name; either fits into one message */
	TIME_LIMIT_US = 250000,  /* of a processor, for one name */
	TIMEOUTS_MAX = 16,       /* so that a log full of such names costs a few seconds */
};

/* What the child sends: the first byte of a message. */
enum answer {
	ANSWER_PLAIN = 'p',   /* the demangled name follows */
	ANSWER_INVALID = 'i', /* it is no mangled name */
	ANSWER_TOO_LONG = 'l',
};

/* -- the child --------------------------------------------------------------------------------- */

struct output {
	char *text;
	size_t length;
	jmp_buf too_long;
};

static void take_piece(const char *piece, size_t length, void *context)
{
	struct output *output = context;
	if (length > PLAIN_LIMIT - output->length)
		longjmp(output->too_long, 1);
	if (length) /* libiberty hands over NULL for no bytes */
		memcpy(output->text + output->length, piece, length);
	output->length += length;
}

static void set_time_limit(void)
{
	const struct itimerval limit = {.it_value = {0, TIME_LIMIT_US}};
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

/* Appends to OUTPUT the name that NAME stands for in Rust, without its hash.  Returns false if NAME
 * is of neither mangling of Rust: v0 (Rust RFC 2603), or legacy, which looks like C++. */
static bool append_rust_name(const char *name, struct output *output)
{
#if HAS_LIBIBERTY
	return rust_demangle_callback(name, 0, take_piece, output) != 0;
#else
	(void)name;
	(void)output;
	return false;
#endif
}

/* Appends to OUTPUT the name that NAME stands for in C++.  Returns false if it is none.  libiberty
 * often knows more of the newest names than g++'s own library, which takes names of 1,024 bytes at
 * most. */
static bool append_cxx_name(const char *name, struct output *output)
{
	if (__gcclibcxx_demangle_callback(name, take_piece, output) == 0)
		return true;
	output->length = 0;
#if HAS_LIBIBERTY
	return name[0] == '_' &&
	       cplus_demangle_v3_callback(name, CXX_OPTIONS, take_piece, output) != 0;
#else
	return false;
#endif
}

/* Sets the empty OUTPUT to the name that NAME stands for in D.  Returns the answer. */
static enum answer demangle_d(const char *name, struct output *output)
{
#if HAS_LIBIBERTY
	char *plain = dlang_demangle(name, 0);
	const size_t length = plain ? strlen(plain) : 0;
	if (length > 0 && length <= PLAIN_LIMIT) {
		memcpy(output->text, plain, length);
		output->length = length;
	}
	free(plain);
	return length == 0 ? ANSWER_INVALID : length > PLAIN_LIMIT ? ANSWER_TOO_LONG : ANSWER_PLAIN;
#else
	(void)name;
	(void)output;
	return ANSWER_INVALID;
#endif
}

/* Sets OUTPUT to the name that NAME stands for, empty if there is none.  Returns the answer. */
static enum answer demangle_within(const char *name, struct output *output)
{
	output->length = 0;
	const enum answer answer = demangle_d(name, output);
	if (answer != ANSWER_INVALID)
		return answer;
	if (setjmp(output->too_long)) {
		output->length = 0;
		return ANSWER_TOO_LONG;
	}
	if (append_rust_name(name, output))
		return ANSWER_PLAIN;
	output->length = 0;
	if (append_cxx_name(name, output))
		return ANSWER_PLAIN;
	output->length = 0;
	return ANSWER_INVALID;
}

/* Answers until the other end of SOCKET is closed. */
static _Noreturn void serve(int socket)
{
	static char name[NAME_LIMIT + 1], text[1 + PLAIN_LIMIT];
	struct output output = {.text = text + 1};
	sigset_t expired;
	ssize_t length;

	/* A name may have more levels than the stack has room for: that leaves no core file. */
	prctl(PR_SET_DUMPABLE, 0);
	/* The limit is a signal that the tool's parent may have blocked or ignored. */
	signal(SIGVTALRM, SIG_DFL);
	sigemptyset(&expired);
	sigaddset(&expired, SIGVTALRM);
	sigprocmask(SIG_UNBLOCK, &expired, NULL);

	while ((length = recv(socket, name, NAME_LIMIT, 0)) > 0) {
		name[length] = '\0';
		set_time_limit();
		text[0] = (char)demangle_within(name, &output);
		if (send(socket, text, 1 + output.length, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* -- the tool ---------------------------------------------------------------------------------- */

static bool start_child(struct demangler *demangler)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		serve(ends[1]);
	}
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return false;
	}
	demangler->child = child;
	demangler->socket = ends[0];
	if (!demangler->reply)
		demangler->reply = xmalloc(1 + PLAIN_LIMIT);
	return true;
}

static void stop_child(struct demangler *demangler)
{
	close(demangler->socket);
	while (waitpid(demangler->child, NULL, 0) < 0 && errno == EINTR)
		;
	demangler->child = 0;
}

/* Returns the demangled NAME from the child, or NULL if there is none. */
static const char *ask_child(struct demangler *demangler, const char *name, size_t length)
{
	ssize_t got;

	if (length > NAME_LIMIT || demangler->timeouts == TIMEOUTS_MAX ||
	    (!demangler->child && !start_child(demangler))) {
		demangler->refused++;
		return NULL;
	}
	if (send(demangler->socket, name, length, MSG_NOSIGNAL) < 0)
		got = -1;
	else
		while ((got = recv(demangler->socket, demangler->reply, 1 + PLAIN_LIMIT, 0)) < 0 &&
		       errno == EINTR)
			;
	if (got <= 0) {
		stop_child(demangler);
		demangler->timeouts++;
		demangler->refused++;
		return NULL;
	}
	if (demangler->reply[0] == ANSWER_TOO_LONG) {
		stop_child(demangler); /* its demangler was left in the middle, and holds memory */
		demangler->refused++;
	}
	if (demangler->reply[0] != ANSWER_PLAIN)
		return NULL;
	return intern(demangler->strings, demangler->reply + 1, (size_t)got - 1);
}

struct known_name {
	const char *mangled, *plain; /* interned */
};

static bool same_mangled(const void *key, const void *entry)
{
	return key == ((const struct known_name *)entry)->mangled;
}

/* Returns true if NAME begins like a mangled name.  A shorter name could be one of the C++ ABI's
 * builtin types: f is float. */
static bool is_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 ||
	       (HAS_LIBIBERTY && (strncmp(name, "_R", 2) == 0 || strncmp(name, "_D", 2) == 0));
}

const char *demangle(struct demangler *demangler, const char *name)
{
	if (!name || !is_mangled(name))
		return intern_text(demangler->strings, name);

	const char *mangled = intern_text(demangler->strings, name);
	uint64_t hash = hash_word(0, (uintptr_t)mangled);
	struct known_name *known = table_find(&demangler->known, hash, mangled, same_mangled);
	if (!known) {
		const char *plain = ask_child(demangler, mangled, strlen(mangled));
		known = arena_alloc(demangler->strings->arena, sizeof *known);
		*known = (struct known_name){mangled, plain ? plain : mangled};
		table_add(&demangler->known, hash, known);
	}
	return known->plain;
}

void demangler_stop(struct demangler *demangler)
{
	if (demangler->child)
		stop_child(demangler);
	if (demangler->refused)
		complain("%zu mangled name%s too large to demangle: shown mangled",
		         demangler->refused, demangler->refused == 1 ? " is" : "s are");
	table_free(&demangler->known);
	free(demangler->reply);
}
