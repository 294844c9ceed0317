/* stress.c SECONDS SEED PLUGIN - does everything that a program does with its heap, at once and at
 * random, round after round. After each round all threads rest, and the tracer's tables are
 * compared with the model (model.h). Ends with 0 if there was no difference.
 *
 * Rounds alternate. In a storm, dumps, forks and loading follow each other as fast as they can,
 * which leaves little processor time to the blocks. In a flow they are rare, and most of a long
 * run's events happen there.
 *
 * Each thread has random numbers of its own, which follow from SEED. The order of the threads does
 * not.
 *
 * supervise.c runs it, reads the log, and sends signals. It wants a sign of life on descriptor 3:
 * STORM or FLOW (rounds.h) at the beginning of each round. */
#include "leakwrap.h"
#include "model.h"
#include "rounds.h"
#include "tests/random.h"

#include <alloca.h>
#include <argz.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

#include "tests/noinline.h"

/* With more threads or larger stacks a round would spend its time on page faults. */
enum { WORKERS = 3, SMALL_STACK = 16384 };

static uint64_t seed;
static char round_kind; /* STORM or FLOW; changes while no other thread runs */
static atomic_bool stopping;
static _Atomic unsigned long failures;
static _Atomic unsigned long long events;

/* Defined in the C++ variant (throwing.cpp). */
void stress_throw(unsigned long random) __attribute__((weak));

static void failed(const char *what)
{
	printf("%s (errno %d)\n", what, errno);
	atomic_fetch_add(&failures, 1);
}

/* The time, from some start on. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Pauses after each action that takes the processors from the blocks. */
static void pause_in(char kind, long milliseconds)
{
	const struct timespec pause = {0, milliseconds * 1000000};

	if (round_kind == kind)
		nanosleep(&pause, NULL);
}

/* -- random numbers ---------------------------------------------------------------------------- */

struct thread {
	uint64_t random;
	unsigned long long events;
	volatile sig_atomic_t nudgeable; /* the signal handler may allocate */
	volatile sig_atomic_t armed;     /* ... or leave by siglongjmp */
	sigjmp_buf escape;
};

static _Thread_local struct thread *self;

static uint64_t next_random(void)
{
	return draw_random(&self->random);
}

static bool one_in(unsigned n)
{
	return next_random() % n == 0;
}

static void begin_thread(struct thread *thread)
{
	static atomic_uint number;
	uint64_t state = seed + 0x100000001b3u * atomic_fetch_add(&number, 1);

	memset(thread, 0, sizeof(*thread));
	thread->random = draw_random(&state);
	self = thread;
}

static void end_thread(void)
{
	atomic_fetch_add(&events, self->events);
}

/* -- the functions that allocate --------------------------------------------------------------- */

static const char long_text[] =
        "a text that is copied, in whole or in part, by the functions that make new "
        "strings, and is longer than what an allocator hands out at least";

static const char *some_text(const size_t *size)
{
	return long_text + sizeof(long_text) - 1 - *size % sizeof(long_text);
}

static NOINLINE void *by_malloc(size_t *size, unsigned slot)
{
	(void)slot;
	return malloc(*size);
}

static NOINLINE void *by_calloc(size_t *size, unsigned slot)
{
	void *block = calloc(*size / 4 + 1, 4);

	(void)slot;
	*size = (*size / 4 + 1) * 4;
	return block;
}

static NOINLINE void *by_realloc(size_t *size, unsigned slot)
{
	(void)slot;
	return realloc(NULL, *size);
}

static NOINLINE void *by_reallocarray(size_t *size, unsigned slot)
{
	(void)slot;
	return reallocarray(NULL, *size, 1);
}

/* Signal handlers and small stacks use only these four. */
enum { PLAIN_MAKERS = 4 };

static NOINLINE void *by_memalign(size_t *size, unsigned slot)
{
	return memalign((size_t)16 << slot % 9, *size);
}

static NOINLINE void *by_aligned_alloc(size_t *size, unsigned slot)
{
	size_t alignment = (size_t)32 << slot % 7;

	*size = (*size + alignment - 1) / alignment * alignment;
	return aligned_alloc(alignment, *size);
}

static NOINLINE void *by_posix_memalign(size_t *size, unsigned slot)
{
	void *block = NULL;

	return posix_memalign(&block, (size_t)8 << slot % 10, *size) == 0 ? block : NULL;
}

static NOINLINE void *by_valloc(size_t *size, unsigned slot)
{
	(void)slot;
	return valloc(*size);
}

static NOINLINE void *by_pvalloc(size_t *size, unsigned slot)
{
	(void)slot;
	return pvalloc(*size);
}

static NOINLINE void *by_strdup(size_t *size, unsigned slot)
{
	char *block = strdup(some_text(size));

	(void)slot;
	*size = strlen(block) + 1;
	return block;
}

static NOINLINE void *by_strndup(size_t *size, unsigned slot)
{
	char *block = strndup(long_text, *size % sizeof(long_text));

	(void)slot;
	*size = strlen(block) + 1;
	return block;
}

static NOINLINE void *by_wcsdup(size_t *size, unsigned slot)
{
	static const wchar_t text[] = L"some wide characters";
	wchar_t *block = wcsdup(text + slot % 10);

	*size = (wcslen(block) + 1) * sizeof(wchar_t);
	return block;
}

static NOINLINE void *by_asprintf(size_t *size, unsigned slot)
{
	char *block;

	*size = (size_t)asprintf(&block, "%u %s", slot, some_text(size)) + 1;
	return block;
}

static NOINLINE int by_vasprintf(char **block, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(block, format, arguments);
	va_end(arguments);
	return length;
}

static NOINLINE void *make_by_vasprintf(size_t *size, unsigned slot)
{
	char *block;

	*size = (size_t)by_vasprintf(&block, "%s %x", some_text(size), slot) + 1;
	return block;
}

/* Lines of growing lengths: getline resizes its buffer, which another thread may free later. */
static char line_text[12000];

static void make_lines(void)
{
	size_t at = 0;

	for (size_t length = 40; at + length < sizeof(line_text); length = length * 3 / 2) {
		memset(line_text + at, 'x', length);
		line_text[at + length - 1] = '\n';
		at += length;
	}
}

static NOINLINE void *by_getline(size_t *size, unsigned slot)
{
	FILE *stream = fmemopen(line_text, strlen(line_text), "r");
	char *line = NULL;
	size_t capacity = 0;

	if (!stream)
		return NULL;
	for (unsigned lines = 0; lines <= slot % 12; lines++)
		if (getline(&line, &capacity, stream) < 0)
			failed("getline");
	fclose(stream);
	*size = capacity;
	return line;
}

static NOINLINE void *by_fclose(size_t *size, unsigned slot)
{
	char *block = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&block, &length);

	if (!stream)
		return NULL;
	fprintf(stream, "%u", slot);
	for (size_t i = 0; i < *size % 5000; i += 100)
		fputs(long_text, stream);
	fclose(stream);
	*size = length + 1;
	return block;
}

static NOINLINE void *by_realpath(size_t *size, unsigned slot)
{
	char *block = realpath("/proc/self/../version", NULL);

	(void)slot;
	*size = block ? strlen(block) + 1 : 0;
	return block;
}

static NOINLINE void *by_getcwd(size_t *size, unsigned slot)
{
	char *block = getcwd(NULL, slot % 2 ? 4096 : 0);

	*size = slot % 2 ? 4096 : strlen(block) + 1;
	return block;
}

static NOINLINE void *by_argz_create_sep(size_t *size, unsigned slot)
{
	char *block = NULL;

	(void)slot;
	if (argz_create_sep(long_text, ' ', &block, size) != 0)
		return NULL;
	return block;
}

/* An allocator of the program's own. Its blocks lie next to each other, at any distance. */
enum { PACKED = 8 };

static char *packed_pool, *region_pool;

static NOINLINE void *by_leakwrap_record(size_t *size, unsigned slot)
{
	void *block = packed_pool + (size_t)slot * PACKED;

	*size %= PACKED + 1;
	leakwrap_record(block, *size);
	return block;
}

/* Makes large blocks at the end of a megabyte, where the live table keeps them in another way. */
static NOINLINE void *by_leakwrap_record_at_end(size_t *size, unsigned slot)
{
	char *block = region_pool + ((size_t)slot << 21) + (1 << 20) - 8 * (1 + *size % 40);

	*size += slot % 4 == 0 ? (size_t)5 << 30 : 4095;
	leakwrap_record(block, *size);
	return block;
}

enum { REGION_SLOTS = 64 };

/* The entries of realloc are not asked for new blocks. */
const struct model_maker model_makers[MAKERS_MAX] = {
        {"by_malloc", by_malloc},
        {"by_calloc", by_calloc},
        {"by_realloc", by_realloc},
        {"by_reallocarray", by_reallocarray},
        {"by_memalign", by_memalign},
        {"by_aligned_alloc", by_aligned_alloc},
        {"by_posix_memalign", by_posix_memalign},
        {"by_valloc", by_valloc},
        {"by_pvalloc", by_pvalloc},
        {"by_strdup", by_strdup},
        {"by_strndup", by_strndup},
        {"by_wcsdup", by_wcsdup},
        {"by_asprintf", by_asprintf},
        {"by_vasprintf", make_by_vasprintf},
        {"by_getline", by_getline},
        {"by_fclose", by_fclose},
        {"by_realpath", by_realpath},
        {"by_getcwd", by_getcwd},
        {"by_argz_create_sep", by_argz_create_sep},
        {"by_leakwrap_record", by_leakwrap_record},
        {"by_leakwrap_record_at_end", by_leakwrap_record_at_end},
        {"to_realloc", NULL},
        {"to_reallocarray", NULL},
};

enum {
	MAKER_COUNT = 21,
	RECORD = MAKER_COUNT - 2,
	RECORD_AT_END = MAKER_COUNT - 1,
	REALLOC = MAKER_COUNT,
	REALLOCARRAY
};

const char *const model_jumpy[] = {"jumpy", NULL};

/* -- one step ---------------------------------------------------------------------------------- */

static size_t some_size(void)
{
	uint64_t random = next_random();

	switch (random >> 56) {
	case 0 ... 159:
		return random % 257;
	case 160 ... 219:
		return random % 4095;
	case 220 ... 239:
		return 4090 + random % 10; /* around the border between small and large blocks */
	case 240 ... 252:
		return random % 20000;
	case 253:
		return (1 << 13) - 4 + random % 8;
	case 254:
		return random & 0xff00 ? 0 : (1 << 20) - 5 + random % 10;
	default:
		return random & 0xff00 ? random % 100000 : (1 << 20) + random % (2 << 20);
	}
}

static bool is_recorded_by_hand(const struct slot *slot)
{
	return slot->maker == RECORD || slot->maker == RECORD_AT_END;
}

/* Writes to the block, as the program's own use of it. Nobody else writes there. */
static void mark(const struct slot *slot)
{
	if (slot->size > 0 && !is_recorded_by_hand(slot)) {
		char *bytes = slot->block;

		bytes[0] = bytes[slot->size - 1] = (char)slot->maker;
	}
}

static void check_mark(const struct slot *slot)
{
	if (slot->size > 0 && !is_recorded_by_hand(slot)) {
		const char *bytes = slot->block;

		if (bytes[0] != bytes[slot->size - 1])
			failed("a block's contents have changed");
	}
}

/* Calls MAKE from different call sites. */
static NOINLINE void *make_below(unsigned depth, model_maker *make, size_t *size, unsigned slot)
{
	void *block = depth == 0 ? make(size, slot) : make_below(depth - 1, make, size, slot);

	__asm__ volatile("");
	return block;
}

static void fill(struct slot *slot, bool plain)
{
	unsigned index = model_index(slot);
	int maker = (int)(next_random() % (plain || one_in(2) ? PLAIN_MAKERS : MAKER_COUNT));

	if (!plain && index < REGION_SLOTS && one_in(2))
		maker = RECORD_AT_END;
	else if (maker == RECORD_AT_END)
		maker = RECORD;
	slot->maker = maker;
	slot->size = some_size();
	slot->block = make_below(plain ? 0 : next_random() % 4, model_makers[maker].make,
	                         &slot->size, index);
	if (slot->block)
		mark(slot);
	else
		failed(model_makers[maker].name);
}

static NOINLINE void *to_realloc(void *block, size_t size)
{
	return realloc(block, size);
}

static NOINLINE void *to_reallocarray(void *block, size_t size)
{
	return reallocarray(block, size, 1);
}

static void resize(struct slot *slot)
{
	size_t size = some_size();
	void *block;

	switch (next_random() % 16) {
	case 0: /* fails, so the old block stays */
		/* Half of the addresses of 32 bits may well be free. */
		block = to_realloc(slot->block, sizeof(size_t) == 4 ? SIZE_MAX / 16 * 15
		                                                    : (size_t)PTRDIFF_MAX - 100);
		if (block)
			failed("an impossible realloc");
		return;
	case 1: /* resizes to 0 bytes; the C library decides what this does */
		block = realloc(slot->block, 0);
		if (block)
			failed("realloc to zero");
		slot->block = NULL;
		return;
	default:
		break;
	}
	if (size == 0)
		size = 1;
	slot->maker = one_in(2) ? REALLOC : REALLOCARRAY;
	block = slot->maker == REALLOC ? to_realloc(slot->block, size)
	                               : to_reallocarray(slot->block, size);
	if (!block) {
		failed("realloc");
		return;
	}
	slot->block = block;
	slot->size = size;
	mark(slot);
}

/* Makes the block of a slot large, so that dumps and signals come while realloc moves it. */
static void resize_large(void)
{
	struct slot *slot = model_take(next_random());
	void *block;

	self->events++;
	if (slot->block && !is_recorded_by_hand(slot)) {
		check_mark(slot);
		slot->maker = REALLOC;
		slot->size = (4u << 20) + next_random() % (8u << 20);
		block = to_realloc(slot->block, slot->size);
		if (block) {
			memset(block, 1, slot->size); /* to be copied */
			slot->block = block;
			slot->size = next_random() % 2 ? slot->size * 2 : 100;
			slot->block = to_realloc(block, slot->size);
		}
		if (!block || !slot->block)
			failed("a large realloc");
		else
			mark(slot);
		if (slot->size > 100) {
			free(slot->block);
			slot->block = NULL;
		}
	}
	model_give(slot);
}

static void empty(struct slot *slot)
{
	if (is_recorded_by_hand(slot))
		leakwrap_forget(slot->block);
	else
		free(slot->block);
	slot->block = NULL;
}

static NOINLINE void step(bool plain)
{
	struct slot *slot = model_take(next_random());

	self->events++;
	if (!slot->block) {
		fill(slot, plain);
	} else {
		check_mark(slot);
		if (!is_recorded_by_hand(slot) && one_in(3))
			resize(slot);
		else
			empty(slot);
	}
	model_give(slot);
}

/* -- signal handlers --------------------------------------------------------------------------- */

extern const char __executable_start[], etext[];

/* A handler allocates if it has not interrupted the C library's allocator: if it interrupted the
 * program or the tracer, which are the executable. (In a static program the executable has the
 * allocator, too.) */
static bool was_in_executable(const ucontext_t *context)
{
#if defined(__x86_64__) && !defined(STRESS_STATIC)
	const char *pc = (const char *)context->uc_mcontext.gregs[REG_RIP];

	return pc >= __executable_start && pc < etext;
#else
	(void)context;
	return false;
#endif
}

static void on_alarm(int signo, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)signo;
	(void)info;
	if (!self || !self->nudgeable || !was_in_executable(context))
		return;
	if (self->armed) {
		self->armed = 0;
		siglongjmp(self->escape, 1);
	}
	self->nudgeable = 0;
	step(true);
	self->nudgeable = 1;
	errno = saved;
}

static _Atomic unsigned long own_usr1;

/* The program's own handler of the dump signal. It keeps the other handler away. */
static void on_usr1(int signo)
{
	(void)signo;
	atomic_fetch_add(&own_usr1, 1);
}

static void set_handlers(void)
{
	struct sigaction alarm_action = {.sa_sigaction = on_alarm,
	                                 .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction usr1_action = {.sa_handler = on_usr1, .sa_flags = SA_RESTART}, seen;

	sigaddset(&usr1_action.sa_mask, SIGALRM);
	sigaction(SIGALRM, &alarm_action, NULL);
	sigaction(SIGUSR1, &usr1_action, NULL);
	if (sigaction(SIGUSR1, NULL, &seen) != 0 || seen.sa_handler != on_usr1)
		failed("the program's own view of SIGUSR1");
}

static void let_alarms(int how)
{
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(how, &alarms, NULL);
}

/* -- unusual ways through the program ---------------------------------------------------------- */

/* Loses a block if the jump comes between the allocation and the assignment. */
static NOINLINE void jumpy(void)
{
	for (int i = 0; i < 200; i++)
		free(malloc(next_random() % 300));
}

static void leave_by_siglongjmp(void)
{
	if (sigsetjmp(self->escape, 1) == 0) {
		self->armed = 1;
		jumpy();
		self->armed = 0;
	}
}

/* Recurses from one of six places, with frames of different sizes: hardly a stack comes twice.  The
 * blocks of each call are freed before it returns.  Blocks of the model are made at the end. */
static NOINLINE void recurse(unsigned depth, uint64_t path)
{
	static void (*const volatile again)(unsigned, uint64_t) = recurse;
	volatile char *room = alloca(16 + path % 4 * 48);
	void *block = malloc(path % 300);

	room[0] = 1;
	if (depth == 0)
		step(false);
	else if (path % 6 == 0)
		again(depth - 1, path / 6);
	else if (path % 6 == 1)
		again(depth - 1, path / 6), room[1] = 1;
	else if (path % 6 == 2)
		again(depth - 1, path / 6), room[2] = 1;
	else if (path % 6 == 3)
		again(depth - 1, path / 6), room[3] = 1;
	else if (path % 6 == 4)
		again(depth - 1, path / 6), room[4] = 1;
	else
		again(depth - 1, path / 6), room[5] = 1;
	free(block);
}

static NOINLINE void jump_out(jmp_buf back)
{
	step(false);
	longjmp(back, 1);
}

static void leave_by_longjmp(void)
{
	jmp_buf back;

	if (setjmp(back) == 0)
		jump_out(back);
	step(false);
}

struct coroutine {
	ucontext_t caller, callee;
};

/* makecontext passes ints, so two of them make a pointer. */
static void run_coroutine(unsigned low, unsigned high)
{
	struct coroutine *coroutine = (struct coroutine *)((uintptr_t)high << 16 << 16 | low);

	step(false);
	swapcontext(&coroutine->callee, &coroutine->caller);
	step(false);
}

static void call_coroutine(void)
{
	enum { STACK = 128 << 10 };
	struct coroutine coroutine;
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getcontext(&coroutine.callee);
	coroutine.callee.uc_stack.ss_sp = stack;
	coroutine.callee.uc_stack.ss_size = STACK;
	coroutine.callee.uc_link = &coroutine.caller;
	makecontext(&coroutine.callee, (void (*)(void))run_coroutine, 2,
	            (unsigned)(uintptr_t)&coroutine, (unsigned)((uintptr_t)&coroutine >> 16 >> 16));
	swapcontext(&coroutine.caller, &coroutine.callee);
	step(false);
	swapcontext(&coroutine.caller, &coroutine.callee);
	munmap(stack, STACK);
}

/* -- threads ----------------------------------------------------------------------------------- */

static pthread_key_t parting;

static void on_thread_end(void *value)
{
	static _Thread_local int again;

	(void)value;
	step(true);
	if (again++ == 0)
		pthread_setspecific(parting, &parting);
	else
		end_thread();
}

static void *short_lived(void *small)
{
	static _Thread_local struct thread thread;

	begin_thread(&thread);
	pthread_setspecific(parting, &parting);
	for (uint64_t i = next_random() % 60; i > 0; i--)
		step(small != NULL);
	return NULL;
}

static void *worker(void *unused)
{
	static _Thread_local struct thread thread;

	(void)unused;
	begin_thread(&thread);
	pthread_setspecific(parting, &parting);
	let_alarms(SIG_UNBLOCK);
	while (!atomic_load(&stopping)) {
		self->nudgeable = 1;
		for (int i = 0; i < 500; i++)
			step(false);
		for (int i = 0; i < 100; i++)
			recurse((unsigned)(next_random() % 14), next_random() >> 8);
		leave_by_siglongjmp();
		self->nudgeable = 0;
		leave_by_longjmp();
		if (one_in(8))
			call_coroutine();
		if (one_in(32))
			resize_large();
		if (stress_throw)
			stress_throw(next_random());
	}
	let_alarms(SIG_BLOCK);
	return NULL;
}

/* Preempts the others, wherever they are, and meets new stacks. Sleeps most of the time: it must
 * not starve them. Without the right to such a priority it is one more worker. */
static void *urgent(void *unused)
{
	static _Thread_local struct thread thread;
	const struct sched_param priority = {.sched_priority = 1};
	const struct timespec rest = {0, 5000000};

	begin_thread(&thread);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
	while (!atomic_load(&stopping)) {
		for (int i = 0; i < 20; i++)
			recurse((unsigned)(next_random() % 14), next_random() >> 8);
		for (int i = 0; i < 100; i++)
			step(false);
		nanosleep(&rest, NULL);
	}
	end_thread();
	return unused;
}

static void *thread_maker(void *unused)
{
	static _Thread_local struct thread thread;
	pthread_attr_t small;

	(void)unused;
	begin_thread(&thread);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, SMALL_STACK);
	while (!atomic_load(&stopping)) {
		bool is_small = one_in(2);
		pthread_t made[4];

		for (int i = 0; i < 4; i++)
			if (pthread_create(&made[i], is_small ? &small : NULL, short_lived,
			                   is_small ? &parting : NULL) != 0) {
				failed("pthread_create");
				return NULL;
			}
		for (int i = 0; i < 4; i++)
			pthread_join(made[i], NULL);
		pause_in(FLOW, 5);
	}
	pthread_attr_destroy(&small);
	end_thread();
	return NULL;
}

/* -- processes --------------------------------------------------------------------------------- */

static void wait_for(pid_t child, const char *what)
{
	int status = -1;

	if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
		printf("status %#x of ", (unsigned)status);
		failed(what);
	}
}

/* Allocates and frees blocks in a child.  Returns whether its counters count them. */
static NOINLINE bool is_counted_in_child(void)
{
	enum { BLOCKS = 100 };
	struct leakwrap_counters before, with, after;
	void *block[BLOCKS];
	size_t bytes = 0;

	leakwrap_get_counters(&before);
	for (int i = 0; i < BLOCKS; i++) {
		size_t size = some_size();

		block[i] = malloc(size);
		bytes += size;
	}
	leakwrap_get_counters(&with);
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	leakwrap_get_counters(&after);
	if (after.foreign_frees == 0 && after.untracked_blocks == 0 &&
	    with.live_bytes - before.live_bytes == bytes &&
	    with.live_blocks - before.live_blocks == BLOCKS &&
	    after.live_bytes == before.live_bytes && after.live_blocks == before.live_blocks)
		return true;
	printf("%d blocks of %zu bytes; counted %zd of %zd, then %zd of %zd; %zu foreign frees, "
	       "%zu untracked\n",
	       BLOCKS, bytes, (ssize_t)(with.live_blocks - before.live_blocks),
	       (ssize_t)(with.live_bytes - before.live_bytes),
	       (ssize_t)(after.live_blocks - before.live_blocks),
	       (ssize_t)(after.live_bytes - before.live_bytes), (size_t)after.foreign_frees,
	       (size_t)after.untracked_blocks);
	return false;
}

/* Checks that the child's allocations appear in its own counters, whatever its parent was doing.
 *
 * A thread of the parent may have been inside realloc, and may have freed the old block already.
 * That block counts as live until the child gets its address for a new block.  This happens once,
 * so the child may try again. */
static NOINLINE void check_in_child(void)
{
	bool is_counted = false;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int tries = 0; tries < 3 && !is_counted; tries++)
		is_counted = is_counted_in_child();
	if (!is_counted) {
		failed("a child's counters");
		_exit(1);
	}
	raise(SIGUSR1);
}

static void fork_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		check_in_child();
		if (one_in(3)) { /* a child of the child */
			child = fork();
			if (child == 0) {
				check_in_child();
				_exit(0);
			}
			wait_for(child, "a grandchild");
		}
		_exit(0); /* a thread that is not in the child may hold the locks of exit() */
	}
	wait_for(child, "a child");
}

static void start_programs(void)
{
	char *const command[] = {(char *)"true", NULL};
	FILE *pipe;
	pid_t child;

	switch (next_random() % 4) {
	case 0:
		child = vfork();
		if (child == 0) {
			execv("/bin/true", command);
			_exit(127);
		}
		wait_for(child, "vfork and exec");
		break;
	case 1:
		if (posix_spawn(&child, "/bin/true", NULL, NULL, command, environ) != 0)
			child = -1;
		wait_for(child, "posix_spawn");
		break;
	case 2:
		pipe = popen("echo popen", "r"); /* NOLINT(cert-env33-c): the text is constant */
		if (!pipe || fgetc(pipe) != 'p' || pclose(pipe) != 0)
			failed("popen");
		break;
	default:
		child = fork();
		if (child == 0) {
			execv("/bin/true", command);
			_exit(127);
		}
		wait_for(child, "fork and exec");
		break;
	}
}

static void *process_maker(void *unused)
{
	static _Thread_local struct thread thread;

	(void)unused;
	begin_thread(&thread);
	while (!atomic_load(&stopping)) {
		fork_child();
		start_programs();
		pause_in(STORM, 10);
		pause_in(FLOW, 200);
	}
	end_thread();
	return NULL;
}

/* -- a shared object that comes and goes ------------------------------------------------------- */

static void step_with(void *plain)
{
	step(plain != NULL);
}

/* Keeps the loader away from the page at ADDRESS, so that the plugin comes to a new address. */
static void occupy(uintptr_t address)
{
	enum { PAGE = 4096, PLACES = 1000 };
	static void *place[PLACES];
	static unsigned next;
	void **at = &place[next++ % PLACES];

	if (*at)
		munmap(*at, PAGE);
	*at = mmap((void *)(address & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_NONE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (*at == MAP_FAILED)
		*at = NULL;
}

/* Returns whether the calls of libraries are recorded: the program exports malloc. */
static bool is_process_traced(void)
{
#ifdef STRESS_PROCESS
	return true;
#else
	return false;
#endif
}

static void *loader(void *path)
{
	static _Thread_local struct thread thread;

	begin_thread(&thread);
	while (!atomic_load(&stopping)) {
		void *handle = dlopen(path, RTLD_NOW);
		void *(*allocates)(size_t);
		void (*calls)(void (*)(void *), void *);

		if (!handle) {
			failed(dlerror());
			break;
		}
		*(void **)&allocates = dlsym(handle, "plugin_allocates");
		*(void **)&calls = dlsym(handle, "plugin_calls");
		for (int i = 0; i < 20; i++)
			calls(step_with, NULL);
		/* A release that a handler has left is over after the next one: else that of its
		 * own address would not count (release.h, "Known limit"). */
		free(malloc(5000));
		if (!is_process_traced())
			atomic_fetch_add(&model_foreign_frees, 1);
		free(allocates(next_random() % 1000));
		if (dlclose(handle) != 0)
			failed("dlclose");
		occupy((uintptr_t)calls);
		pause_in(FLOW, 20);
	}
	end_thread();
	return NULL;
}

/* -- rounds ------------------------------------------------------------------------------------ */

static void run_round(const char *plugin)
{
	static void *(*const kinds[])(void *) = {thread_maker, process_maker, urgent, loader};
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
	const double length =
	        (round_kind == FLOW ? 1.1 : 0.1) + (double)(next_random() % 200) / 1000;
	const double end = seconds() + length;
	const struct timespec until = {(time_t)end, (long)((end - (double)(time_t)end) * 1e9)};
	const struct itimerval nudges = {{0, 700}, {0, 700}}, none = {{0, 0}, {0, 0}};
	pthread_t thread[WORKERS + KINDS];
	int count = 0;

	atomic_store(&stopping, false);
	for (int i = 0; i < WORKERS; i++)
		count += pthread_create(&thread[count], NULL, worker, NULL) == 0;
	for (int i = 0; i < KINDS; i++)
		if (kinds[i] != loader || plugin)
			count += pthread_create(&thread[count], NULL, kinds[i],
			                        (void *)(uintptr_t)plugin) == 0;
	setitimer(ITIMER_REAL, &nudges, NULL);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
		; /* dumps interrupt it, and take time */
	setitimer(ITIMER_REAL, &none, NULL);
	atomic_store(&stopping, true);
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

/* Compares in a child. All other threads rest, so the child's tables are equal to the parent's. */
static unsigned check_in_forked(bool exact_totals)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		atomic_store(&model_foreign_frees, 0);
		exit(model_check(exact_totals, "in a child") != 0);
	}
	return waitpid(child, &status, 0) != child || status != 0;
}

/* -- what it costs over time ------------------------------------------------------------------- */

enum { SAMPLES = 1 << 15 };

/* One sample after each round. */
static struct {
	unsigned count;
	double time[SAMPLES]; /* seconds since the start */
	double bytes[SAMPLES], program[SAMPLES], pair[SAMPLES];
} samples;

/* Returns the nanoseconds of an allocation with its release: the least of several runs. */
static NOINLINE double time_of_pair(void)
{
	enum { PAIRS = 2000, RUNS = 10 };
	double least = 1e9;

	for (int run = 0; run < RUNS; run++) {
		const double start = seconds();
		double took;

		for (int i = 0; i < PAIRS; i++) {
			void *volatile block = malloc(100);

			free(block);
		}
		took = (seconds() - start) * 1e9 / PAIRS;
		if (took < least)
			least = took;
	}
	return least;
}

/* Returns how many bytes of the process are in memory (proc(5), statm).  0: not known. */
static double resident_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (statm) {
		if (fscanf(statm, "%*u %lu", &pages) != 1)
			pages = 0;
		fclose(statm);
	}
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* Takes a sample, while no other thread runs. */
static void take_sample(double start)
{
	struct leakwrap_counters counters;

	if (samples.count == SAMPLES)
		return;
	leakwrap_get_counters(&counters);
	samples.time[samples.count] = seconds() - start;
	samples.bytes[samples.count] = (double)counters.tracer_bytes;
	samples.program[samples.count] = resident_bytes() - (double)counters.tracer_bytes;
	samples.pair[samples.count++] = time_of_pair();
}

/* The last half of the samples is divided into this number of pieces.  A piece is longer than the
 * tables take to grow and to shrink again, so the means of pieces vary independently. */
enum { PIECES = 12 };

/* Prints the mean of VALUE over the last half of the samples, its slope by least squares, and the
 * slope's standard error, both in percent of the mean an hour. */
static void print_slope(const char *name, const double *value)
{
	const unsigned first = samples.count / 2, size = (samples.count - first) / PIECES;
	double times[PIECES] = {0}, values[PIECES] = {0};
	double time = 0, mean = 0, product = 0, square = 0, rest = 0, slope;

	for (unsigned i = 0; i < PIECES * size; i++) {
		times[i / size] += samples.time[first + i] / size;
		values[i / size] += value[first + i] / size;
	}
	for (unsigned i = 0; i < PIECES; i++)
		time += times[i] / PIECES, mean += values[i] / PIECES;
	for (unsigned i = 0; i < PIECES; i++) {
		product += (times[i] - time) * (values[i] - mean);
		square += (times[i] - time) * (times[i] - time);
	}
	if (mean <= 0 || square <= 0)
		return;
	slope = product / square;
	for (unsigned i = 0; i < PIECES; i++) {
		const double off = values[i] - mean - slope * (times[i] - time);

		rest += off * off;
	}
	printf("%s in the last half: mean %.1f, slope %+.2f %% an hour, standard error %.2f\n",
	       name, mean, slope * 3600 / mean * 100,
	       sqrt(rest / (PIECES - 2) / square) * 3600 / mean * 100);
}

static void *reserve(size_t size)
{
	void *pool =
	        mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return (void *)(((uintptr_t)pool + (1 << 20) - 1) & ~(uintptr_t)((1 << 20) - 1));
}

int main(int argc, char **argv)
{
	static struct thread main_thread;
	const char *plugin = argc > 3 && argv[3][0] ? argv[3] : NULL;
	struct timespec start, now;
	const double began = seconds();
	unsigned differences = 0, rounds = 0;
#ifdef STRESS_STATIC
	const bool exact_totals = false; /* the C library's own blocks are traced, too */
#else
	const bool exact_totals = true;
#endif

	if (argc < 3)
		return 2;
	seed = strtoull(argv[2], NULL, 0);
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	model_start();
	packed_pool = reserve((SLOTS * PACKED) + (2 << 20));
	region_pool = reserve(((size_t)REGION_SLOTS << 21) + (2 << 20));
	make_lines();
	begin_thread(&main_thread);
	pthread_key_create(&parting, on_thread_end);
	let_alarms(SIG_BLOCK);
	set_handlers();
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		round_kind = rounds % 2 == 0 ? STORM : FLOW;
		if (write(3, &round_kind, 1) != 1)
			failed("no supervisor");
		run_round(plugin);
		differences += model_check(exact_totals, "after a round");
		differences += check_in_forked(exact_totals);
		take_sample(began);
		rounds++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec < atol(argv[1]) && differences + failures < 20);
	printf("%u rounds, %llu events, %lu signals of the program's own, %u differences, %lu "
	       "failures\n",
	       rounds, (unsigned long long)events, own_usr1, differences, failures);
	print_slope("tracer_bytes", samples.bytes);
	print_slope("bytes in memory beside them", samples.program);
	print_slope("nanoseconds of a pair", samples.pair);
	return differences > 0 || failures > 0;
}
