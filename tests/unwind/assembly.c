/* assembly.c - blocks behind functions that are written in assembly (assembly.S). */
#include "tests/noinline.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void callback(void);
typedef void caller(callback *call, int number);

static void *volatile kept;
static size_t size; /* identifies the function */

static jmp_buf out;
static volatile bool leaves; /* whether the callback never returns */

static NOINLINE __attribute__((force_align_arg_pointer)) void leak(void)
{
	kept = malloc(size);
	__asm__ volatile("");
	if (leaves)
		longjmp(out, 1);
}

/* The functions of assembly.S. Each gets a function that it calls and a caller, with unique
 * names. */
// clang-format off
#define EACH(X) \
	X(bare) X(pushes) X(subtracts) X(pushes_and_subtracts) X(uses_rbp) X(points_rbp) \
	X(with_frame_pointer) \
	X(keeps_returns) X(branches) X(jumps) X(switches_stack) X(aligns)

/* Functions that are called through a pointer. No call on the stack says where they start. */
#define EACH_BY_POINTER(X) X(jumps_at_end) X(jumps_to_another) X(many_ways)
// clang-format on

#define NUMBER(name) number_##name,
enum {
	number_first = 100,
	EACH(NUMBER) EACH_BY_POINTER(NUMBER) number_generated,
	number_ends_with_call,
	number_resolver
};

#define DECLARE(name)            DECLARE_AS(name, name)
#define DECLARE_BY_POINTER(name) DECLARE_AS(name, pointer_to_##name)
#define DECLARE_AS(name, called)                  \
	static NOINLINE void via_##name(int n)    \
	{                                         \
		called(leak, n);                  \
		__asm__ volatile("");             \
	}                                         \
	static NOINLINE void from_##name(int n)   \
	{                                         \
		char room[40 + sizeof(#name)];    \
                                                  \
		size = number_##name;             \
		__asm__ volatile("" ::"r"(room)); \
		via_##name(n);                    \
		__asm__ volatile("");             \
	}
#define NAME(name) caller name;
EACH(NAME)
EACH_BY_POINTER(NAME)
#define POINTER(name) static caller *volatile pointer_to_##name = name;
EACH_BY_POINTER(POINTER)
EACH(DECLARE)
EACH_BY_POINTER(DECLARE_BY_POINTER)

/* Code in memory that belongs to no file, like a just-in-time compiler's. */
static caller *generated;

static NOINLINE void via_generated(int n)
{
	generated(leak, n);
	__asm__ volatile("");
}

static NOINLINE void from_generated(int n)
{
	size = number_generated;
	via_generated(n);
	__asm__ volatile("");
}

caller ends_with_call;

static NOINLINE void via_ends_with_call(int n)
{
	ends_with_call(leak, n);
	__asm__ volatile("");
}

static NOINLINE void from_ends_with_call(int n)
{
	size = number_ends_with_call;
	leaves = true;
	if (setjmp(out) == 0)
		via_ends_with_call(n);
	leaves = false;
}

static void generate(void)
{
	/* push %rbx; sub $16, %rsp; call *%rdi; add $16, %rsp; pop %rbx; ret */
	static const unsigned char code[] = {0x53, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd7,
	                                     0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3};
	void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		abort();
	memcpy(pages, code, sizeof(code));
	/* A processor that cannot separate execution from reading lets it be read. */
	if (mprotect(pages, 4096, PROT_EXEC) != 0)
		abort();
	*(void **)&generated = pages;
}

#ifdef RESOLVER
void call_resolved(callback *call);

static NOINLINE void from_resolver(void)
{
	size = number_resolver;
	call_resolved(leak);
	__asm__ volatile("");
}
#else
static void from_resolver(void)
{
}
#endif

int main(void)
{
	generate();
	for (int n = 0; n < 3; n++) {
#define CALL(name) from_##name(n);
		EACH(CALL)
		EACH_BY_POINTER(CALL)
		from_generated(n);
		from_ends_with_call(n);
	}
	from_resolver();
	return 0;
}
