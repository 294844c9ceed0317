/* frame_pointers.c - leaks one block behind a chain of calls, and one behind a meaningless frame
 * pointer. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/noinline.h"

static void *volatile kept;

/* The frames of a chain differ in size, and none of the calls is a tail call. */
static NOINLINE void leaf(void)
{
	kept = malloc(11);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void middle(void)
{
	char room[100];

	__asm__ volatile("" : : "r"(room) : "memory");
	leaf();
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void outer(int depth)
{
	if (depth)
		outer(depth - 1);
	else
		middle();
	__asm__ volatile("" ::: "memory");
}

static void *thread_main(void *argument)
{
	middle();
	__asm__ volatile("" ::: "memory");
	return argument;
}

#ifdef __x86_64__
/* Calls malloc(22) with FP as the frame pointer. */
__attribute__((naked, noinline)) static void *with_frame_pointer(__attribute__((unused))
                                                                 uintptr_t fp)
{
	__asm__("push %rbp\n\t"
	        "mov %rdi, %rbp\n\t"
	        "mov $22, %edi\n\t"
	        "call malloc\n\t"
	        "pop %rbp\n\t"
	        "ret");
}
#endif

int main(void)
{
	pthread_t thread;

	outer(0);
	outer(1);
	outer(100);
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
#ifdef __x86_64__
	/* Two pages: the second page must not be touched. */
	char *pages =
	        mmap(NULL, 3ul * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t some[] = {0,
	                    1,
	                    8,
	                    UINTPTR_MAX,
	                    UINTPTR_MAX - 15,
	                    (uintptr_t)1 << 63,
	                    here,
	                    here + 1,
	                    here - 4096,
	                    here + 4096,
	                    here + (64u << 20),
	                    (uintptr_t)main,
	                    (uintptr_t)(pages + 4096 - 8),
	                    (uintptr_t)(pages + 4096 - 16),
	                    (uintptr_t)(pages + 4096),
	                    (uintptr_t)(pages + 2ul * 4096)};

	if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE))
		return 1;
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		with_frame_pointer(some[i]);
	/* One frame points to itself, another frame points below. */
	*(uintptr_t *)(void *)pages = (uintptr_t)pages;
	with_frame_pointer((uintptr_t)pages);
	*(uintptr_t *)(void *)pages = 8;
	with_frame_pointer((uintptr_t)pages);
#endif
	return 0;
}
