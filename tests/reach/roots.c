/* roots.c - blocks that one kind of root alone holds, and blocks that nothing holds.  A function
 * keep_ROOT, lose_WAY or inside_WAY allocates each, so that call sites tell them apart. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "leakwrap.h"

/* The number keeps the compiler from merging the functions. */
static volatile int last_call;

#define BLOCK(name)                                       \
	static __attribute__((noinline)) void *name(void) \
	{                                                 \
		last_call = __COUNTER__;                  \
		return malloc(40);                        \
	}

BLOCK(keep_data)
BLOCK(keep_tls)
BLOCK(keep_key)
BLOCK(keep_late_key)
BLOCK(keep_sleeper)
BLOCK(keep_blocked)
BLOCK(keep_register)
BLOCK(keep_coroutine)
BLOCK(keep_mapped)
BLOCK(keep_shared)
BLOCK(keep_protected)
BLOCK(keep_declared)
BLOCK(keep_ignored)
BLOCK(keep_through_ignored)
BLOCK(keep_tagged)
BLOCK(keep_string)
BLOCK(keep_array)
BLOCK(keep_counted)
BLOCK(inside_plain)
BLOCK(lose_plain)
BLOCK(lose_packed)
BLOCK(lose_across_pages)
BLOCK(lose_stale_stack)
BLOCK(lose_undeclared)
BLOCK(lose_ended_stack)
BLOCK(lose_ended_tls)
BLOCK(keep_result)

static void *volatile data;
static void *volatile inside[4];
static volatile uintptr_t tagged;
#ifndef __GLIBC__
static void *volatile data_of_coroutine;
#endif
static _Thread_local void *volatile tls __attribute__((tls_model("initial-exec")));
static _Atomic int ready;

#define PAGE 65536u

static void **map(int flags)
{
	return mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
}

/* Sleeps with a block that its stack alone holds. */
static void *sleeper(void *unused)
{
	void *volatile kept = keep_sleeper();

	tls = keep_tls();
	ready++;
	while (kept)
		pause();
	return unused;
}

/* Sleeps with all signals blocked. */
static void *blocked(void *unused)
{
	void *volatile kept = keep_blocked();
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	ready++;
	while (kept)
		pause();
	return unused;
}

/* Runs with a block that a register alone holds. */
static void *runner(void *unused)
{
	register void *kept = keep_register();

	ready++;
	for (;;)
		__asm__ volatile("" : "+r"(kept));
	return unused;
}

/* Leaves blocks on its stack and in its storage, and returns a block to the thread that joins it:
 * nobody does.  The C library keeps the stack, and its description of the thread leads to the last
 * block. */
static void *leave_and_end(void *id)
{
	void *volatile left = lose_ended_stack();
	void *const result = keep_result();

	tls = lose_ended_tls();
	(void)left;
	*(_Atomic int *)id = (int)syscall(SYS_gettid);
	return result;
}

static void end_a_thread(void)
{
	static _Atomic int id;
	pthread_t thread;

	if (pthread_create(&thread, NULL, leave_and_end, (void *)&id) != 0)
		abort();
	while (id == 0 || syscall(SYS_tgkill, getpid(), id, 0) == 0)
		usleep(1000);
}

#ifdef __GLIBC__

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	void *volatile kept = keep_coroutine();

	swapcontext(&coroutine_context, &main_context);
	free(kept);
}

static void start_coroutine(void)
{
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = map(MAP_PRIVATE);
	coroutine_context.uc_stack.ss_size = PAGE;
	makecontext(&coroutine_context, coroutine, 0);
	swapcontext(&main_context, &coroutine_context);
}

#else

/* musl has no such functions. */
static void start_coroutine(void)
{
	data_of_coroutine = keep_coroutine();
}

#endif

static void hold_in_keys(void)
{
	pthread_key_t key;

	pthread_key_create(&key, NULL);
	pthread_setspecific(key, keep_key());
	for (unsigned i = 0; i < 40; i++)
		pthread_key_create(&key, NULL);
	pthread_setspecific(key, keep_late_key());
}

static void hold_in_mappings(void)
{
	void **const hidden = map(MAP_PRIVATE);
	void **const ignored = keep_ignored();

	*map(MAP_PRIVATE) = keep_mapped();
	*map(MAP_SHARED) = keep_shared();
	*hidden = keep_protected();
	mprotect(hidden, PAGE, PROT_READ);
	*ignored = keep_through_ignored();
	leakwrap_ignore(ignored);
}

/* AArch64 ignores the highest byte of an address ("top byte ignore", Arm ARM, DDI 0487, D8.8). */
#ifdef __aarch64__
#define TAG ((uintptr_t)0xa5 << 56)
#else
#define TAG ((uintptr_t)0)
#endif

static void hold_by_tag(void)
{
	tagged = (uintptr_t)keep_tagged() | TAG;
}

/* Holds blocks by pointers into them: three are usual, and one is not. */
static void hold_by_inside(void)
{
	size_t *const string = keep_string(), *array = keep_array();
	uint64_t *const counted = keep_counted();

	string[0] = 5;                            /* the length of a std::string */
	string[1] = 40 - 3 * sizeof(*string) - 1; /* its capacity */
	inside[0] = string + 3;
#ifdef __arm__
	*array++ = 8; /* bytes of an element */
#endif
	*array++ = 4; /* elements of an array by new[] */
	inside[1] = array;
	counted[0] = 32; /* bytes behind it */
	inside[2] = counted + 1;
	inside[3] = (char *)inside_plain() + 5;
}

/* Pointers at odd addresses, one across two pages: only pointer_step=1 finds them. */
static struct __attribute__((packed)) {
	char first;
	void *pointer;
} volatile packed;

static void hold_unaligned(void)
{
	void *const block = lose_across_pages();
	char *const pages = (char *)map(MAP_PRIVATE);

	packed.pointer = lose_packed();
	memcpy(pages + getpagesize() - 3, &block, sizeof(block));
}

/* A pointer that is no pointer to the scan: it is inverted, but for a copy in memory that the
 * program declares. */
static void hold_in_declared(void)
{
	static uintptr_t inverted;
	void **const other = map(MAP_PRIVATE), **const range = map(MAP_PRIVATE);

	inverted = ~(uintptr_t)lose_undeclared();
	other[0] = range[0] = keep_declared();
	leakwrap_root(other, sizeof(*other));
	leakwrap_root(range, 2 * sizeof(*range));
	if (leakwrap_unroot(other) != 0)
		abort();
	if (leakwrap_unroot(other) != -1) /* again */
		abort();
	(void)inverted;
}

static void *volatile overwritten;

static __attribute__((noinline)) void lose(void)
{
	overwritten = lose_plain();
	overwritten = NULL;
}

/* Leaves a pointer deep below the stack of the dump. */
static __attribute__((noinline)) void leave_on_stack(void)
{
	volatile char room[16384];
	void *volatile deep = lose_stale_stack();

	room[0] = 0;
	(void)deep, (void)room;
}

static __attribute__((noinline)) void clear_stack(void)
{
	volatile char room[8192];

	memset((char *)room, 0, sizeof(room));
}

static __attribute__((noinline)) void make(void)
{
	pthread_t thread;

	data = keep_data();
	pthread_create(&thread, NULL, sleeper, NULL);
	pthread_create(&thread, NULL, blocked, NULL);
	pthread_create(&thread, NULL, runner, NULL);
	start_coroutine();
	hold_in_keys();
	hold_in_mappings();
	hold_in_declared();
	hold_unaligned();
	hold_by_tag();
	hold_by_inside();
	lose();
	while (ready < 3)
		usleep(1000);
}

int main(void)
{
	make();
	clear_stack();
	leave_on_stack();
	/* Last: its stack may have addresses of memory that it freed, and that is a block again. */
	end_a_thread();
	if (leakwrap_dump(-1) != 0)
		return 1;
	syscall(SYS_exit_group, 0); /* other threads hold locks */
	return 1;
}
