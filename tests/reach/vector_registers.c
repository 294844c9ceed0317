/* vector_registers.c - blocks to which a vector register alone points, each in a thread that spins.
 * A function keep_REGISTER allocates each.  Prints whether the processor has each register.  On
 * x86-64 a pointer stands below the stack pointer, too, as in functions that call no other. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"

struct holder {
	uintptr_t inverted; /* the pointer */
	volatile int is_ready;
};

/* The number keeps the compiler from merging the functions. */
static volatile int last_call;

/* Defines keep_NAME, and hold_NAME for a thread.  CODE turns the word p into the pointer
 * and moves it to a vector register.  REST clears p, sets the word at ready, and spins. */
#define HOLDER(name, code)                                                      \
	static NOINLINE void *keep_##name(void)                                 \
	{                                                                       \
		last_call = __COUNTER__;                                        \
		return malloc(40);                                              \
	}                                                                       \
	static void *hold_##name(void *context)                                 \
	{                                                                       \
		struct holder *const holder = context;                          \
		uintptr_t word = holder->inverted;                              \
                                                                                \
		__asm__ volatile(code REST                                      \
		                 : [p] "+r"(word)                               \
		                 : [one] "r"(1), [ready] "r"(&holder->is_ready) \
		                 : "memory");                                   \
		return NULL;                                                    \
	}

/* Starts the thread HOLD for BLOCK, if the processor has its register. */
static void start(const char *name, bool is_there, void *block, void *(*hold)(void *context))
{
	static struct holder holders[5];
	static unsigned count;
	struct holder *const holder = &holders[count++];
	pthread_t thread;

	printf("%s %s\n", name, is_there ? "reachable" : "missing");
	holder->inverted = ~(uintptr_t)block;
	if (!is_there)
		return;
	if (pthread_create(&thread, NULL, hold, holder) != 0)
		abort();
	while (!holder->is_ready)
		usleep(1000);
}

#if defined(__x86_64__) || defined(__i386__)

#ifdef __x86_64__
#define TO "movq %[p], "
#else
#define TO "movd %[p], "
#endif
#define REST                        \
	"xor %[p], %[p]\n"          \
	"movl %[one], (%[ready])\n" \
	"1: pause\n"                \
	"jmp 1b\n"

/* Moves the pointer to xmm1, and clears register 0 of all sizes. */
#define START             \
	"not %[p]\n"      \
	"v" TO "%%xmm1\n" \
	"vpxor %%xmm0, %%xmm0, %%xmm0\n"
#define END "vpxor %%xmm1, %%xmm1, %%xmm1\n"

HOLDER(sse, "not %[p]\n" TO "%%xmm7\n")
HOLDER(avx, START "vinsertf128 $1, %%xmm1, %%ymm0, %%ymm0\n" END)
HOLDER(avx512, START "vinserti32x4 $3, %%xmm1, %%zmm0, %%zmm0\n" END)
#ifdef __x86_64__
HOLDER(avx512_high, START "vinserti32x4 $0, %%xmm1, %%zmm0, %%zmm31\n" END)
HOLDER(red_zone, "not %[p]\n movq %[p], -120(%%rsp)\n")
#endif

static void start_all(void)
{
	const bool has_avx512 = __builtin_cpu_supports("avx512f");

	start("sse", __builtin_cpu_supports("sse2"), keep_sse(), hold_sse);
	start("avx", __builtin_cpu_supports("avx"), keep_avx(), hold_avx);
	start("avx512", has_avx512, keep_avx512(), hold_avx512);
#ifdef __x86_64__
	start("avx512_high", has_avx512, keep_avx512_high(), hold_avx512_high);
	start("red_zone", true, keep_red_zone(), hold_red_zone);
#endif
}

#elif defined(__aarch64__)

#define REST                        \
	"mov %[p], #0\n"            \
	"str %w[one], [%[ready]]\n" \
	"1: yield\n"                \
	"b 1b\n"

HOLDER(neon, "mvn %[p], %[p]\n fmov d31, %[p]\n")
/* z0 to z31 are v0 to v31 made longer.  Element 2 is behind v0. */
HOLDER(sve, ".arch_extension sve\n"
            "mvn %[p], %[p]\n"
            "index z1.d, #0, #1\n"
            "ptrue p0.d\n"
            "cmpeq p0.d, p0/z, z1.d, #2\n"
            "mov z0.d, #0\n"
            "mov z0.d, p0/m, %[p]\n")

static void start_all(void)
{
	const unsigned long has_sve = getauxval(AT_HWCAP) & 1ul << 22; /* HWCAP_SVE */
	uintptr_t size = 0;

	if (has_sve)
		__asm__ volatile(".arch_extension sve\n rdvl %0, #1" : "=r"(size));
	start("neon", true, keep_neon(), hold_neon);
	start("sve", size > 16, keep_sve(), hold_sve);
}

#elif defined(__arm__)

#define REST                       \
	"mov %[p], #0\n"           \
	"str %[one], [%[ready]]\n" \
	"1: b 1b\n"

HOLDER(vfp, ".fpu neon\n mvn %[p], %[p]\n vmov s5, %[p]\n")
HOLDER(neon, ".fpu neon\n mvn %[p], %[p]\n vmov.32 d31[1], %[p]\n")

static void start_all(void)
{
	const unsigned long hwcap = getauxval(AT_HWCAP);

	start("vfp", hwcap & 1ul << 6, keep_vfp(), hold_vfp);     /* HWCAP_VFP */
	start("neon", hwcap & 1ul << 12, keep_neon(), hold_neon); /* HWCAP_NEON */
}

#endif

int main(void)
{
	start_all();
	clear_stack();
	fflush(stdout);
	if (leakwrap_dump(-1) != 0)
		return 1;
	syscall(SYS_exit_group, 0); /* the others spin */
	return 1;
}
