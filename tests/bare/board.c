/* board.c - starts a program without an operating system, writes to the emulator's console by
 * semihosting (Arm, "Semihosting for AArch32 and AArch64"), and defines what newlib needs of a
 * system. Its hooks describe the tasks of rtos.h to the tracer. */
#include "board.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "leakwrap_bare.h"
#include "rtos.h"

/* The argument of the program. */
#ifndef BOARD_ARGUMENT
#define BOARD_ARGUMENT ""
#endif

#define SYS_WRITEC        3
#define SYS_EXIT_EXTENDED 0x20

extern void __libc_init_array(void);
extern void __libc_fini_array(void);
extern int main(int argc, char **argv);
extern char heap_low[], heap_high[], exception_stacks[];

void start(void) __attribute__((noreturn));
void reset(void) __attribute__((noreturn));
void _init(void);
void _fini(void);

static uintptr_t semihost(uintptr_t operation, const void *argument)
{
	register uintptr_t r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = argument;

#if __ARM_ARCH_PROFILE == 'M'
	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
#elif defined(__thumb__)
	__asm__ volatile("svc 0xab" : "+r"(r0) : "r"(r1) : "memory", "lr");
#else
	__asm__ volatile("svc 0x123456" : "+r"(r0) : "r"(r1) : "memory", "lr");
#endif
	return r0;
}

void console_write(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		semihost(SYS_WRITEC, &bytes[i]);
}

void stop(int status)
{
	const uintptr_t reason[2] = {0x20026 /* the program ended */, (uintptr_t)status};

	for (;;)
		semihost(SYS_EXIT_EXTENDED, reason);
}

/* -- hooks of the tracer ----------------------------------------------------------------------- */

static bool is_locked;

uintptr_t board_lock(void)
{
	if (is_locked)
		stop(3);
	is_locked = true;
	return 4711;
}

void board_unlock(uintptr_t state)
{
	if (state != 4711 || !is_locked)
		stop(4);
	is_locked = false;
}

bool board_is_locked(void)
{
	return is_locked;
}

uint64_t board_nanoseconds(void)
{
	static uint64_t now;

	return now += 1000;
}

void board_describe_unnamed_task(struct leakwrap_bare_task *task)
{
	const struct task *now = task_current();

	if (!now)
		return;
	task->id = now;
	task->stack_low = (uintptr_t)task_stack_low(now);
	task->stack_high = (uintptr_t)task_stack_high(now);
}

void board_describe_task(struct leakwrap_bare_task *task)
{
	board_describe_unnamed_task(task);
	if (task->id)
		task->name = task_name(task->id);
}

/* -- the start --------------------------------------------------------------------------------- */

void _init(void)
{
}

void _fini(void)
{
}

static void map_memory(void);

/* The loader has put everything into its place. */
void start(void)
{
	map_memory();
	atexit(__libc_fini_array); /* newlib's own start does this, too */
	__libc_init_array();
	exit(main(2, (char *[]){"program", BOARD_ARGUMENT, NULL}));
}

#if __ARM_ARCH_PROFILE == 'M'

static void map_memory(void)
{
}

void reset(void)
{
	start();
}

static void (*volatile pending_handler)(void);

static void pending(void)
{
	pending_handler();
}

/* Armv7-M Architecture Reference Manual, DDI 0403E, B1.5.3. */
const void *const vectors[16] __attribute__((section(".vectors"), used)) = {
        [0] = stack_high,
        [1] = (const void *)reset,
        [3] = (const void *)leakwrap_bare_hard_fault,
        [14] = (const void *)pending,
};

#define EXCEPTION_STACK 4096u
#define PAINT           0xa5a5a5a5u

size_t exception_stack_used(void)
{
	const uint32_t *word = (const uint32_t *)(uintptr_t)(exception_stacks - EXCEPTION_STACK);

	while (word < (const uint32_t *)(uintptr_t)exception_stacks && *word == PAINT)
		word++;
	return (size_t)((uintptr_t)exception_stacks - (uintptr_t)word);
}

/* DDI 0403E, B1.4.1 and B1.4.4: the process stack takes the place of the main stack. */
void use_process_stack(void)
{
	uint32_t *word = (uint32_t *)(uintptr_t)(exception_stacks - EXCEPTION_STACK);

	while (word < (uint32_t *)(uintptr_t)exception_stacks)
		*word++ = PAINT;
	__asm__ volatile("mrs r0, msp\n\t"
	                 "msr psp, r0\n\t"
	                 "movs r0, #2\n\t"
	                 "msr control, r0\n\t"
	                 "isb\n\t"
	                 "msr msp, %0\n\t"
	                 :
	                 : "r"(exception_stacks)
	                 : "r0", "memory");
}

/* DDI 0403E, B3.2.4: PendSV. */
void interrupt(void (*handler)(void))
{
	pending_handler = handler;
	*(volatile uint32_t *)0xe000ed04 = 1u << 28;
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

void provoke(const char *exception)
{
	(void)exception;
	*(volatile int *)0x90000000 = 1;
}

/* DDI 0403E, B3.5.5 to B3.5.9: region 0 has 32 bytes (SIZE 4) and no access (AP 0).  All other
 * memory is as without the MPU (PRIVDEFENA). */
void guard(uintptr_t address)
{
	*(volatile uint32_t *)0xe000ed98 = 0;                     /* MPU_RNR */
	*(volatile uint32_t *)0xe000ed9c = (address + 31) & ~31u; /* MPU_RBAR */
	*(volatile uint32_t *)0xe000eda0 = 4u << 1 | 1;           /* MPU_RASR */
	*(volatile uint32_t *)0xe000ed94 = 1u << 2 | 1;           /* MPU_CTRL */
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

void leave_stack(void)
{
	__asm__ volatile("mov sp, %0\n\tpush {r0}" : : "r"(0x90000010) : "memory");
}

#else

/* The emulated boards allow accesses to missing memory, so the MMU must stop them. It maps all
 * addresses to themselves as cached memory, except for the last 256 MiB (DDI 0406C, B3.5.1,
 * "Section"; ARM926EJ-S TRM, DDI 0198E, 3.2). */
static void map_memory(void)
{
#if __ARM_ARCH >= 7
	const uint32_t section = 0x1c0e;
#else
	const uint32_t section = 0xc1e;
#endif
	static uint32_t table[4096] __attribute__((aligned(16384)));

	for (uint32_t i = 0; i < 0xf00; i++)
		table[i] = i << 20 | section;
	__asm__ volatile("mcr p15, 0, %0, c2, c0, 0\n\t" /* TTBR0 */
	                 "mcr p15, 0, %1, c3, c0, 0\n\t" /* DACR */
	                 "mrc p15, 0, r2, c1, c0, 0\n\t" /* SCTLR */
	                 "orr r2, r2, #1\n\t"
	                 "mcr p15, 0, r2, c1, c0, 0\n\t"
	                 :
	                 : "r"(table), "r"(1)
	                 : "r2", "memory");
}

/* Each exception's mode has a stack of its own. DDI 0406C, B1.3.1, has the modes' numbers. */
__attribute__((naked, target("arm"))) void reset(void)
{
	__asm__ volatile("ldr r0, =exception_stacks\n\t"
	                 "msr cpsr_c, #0xdb\n\t" /* undefined instruction */
	                 "mov sp, r0\n\t"
	                 "sub r0, r0, #4096\n\t"
	                 "msr cpsr_c, #0xd7\n\t" /* abort */
	                 "mov sp, r0\n\t"
	                 "msr cpsr_c, #0xdf\n\t" /* system */
	                 "ldr sp, =stack_high\n\t"
#if __ARM_ARCH >= 7
	                 "ldr r0, =text_start\n\t"
	                 "mcr p15, 0, r0, c12, c0, 0\n\t" /* VBAR, DDI 0406C, B4.1.156 */
#endif
	                 "mov fp, #0\n\t"
	                 "mov lr, #0\n\t"
	                 "bl start\n\t"
	                 ".ltorg\n\t");
}

/* DDI 0406C, B1.8.1. */
__attribute__((naked, used, section(".vectors"), target("arm"))) static void vectors(void)
{
	__asm__ volatile("b reset\n\t"
	                 "ldr pc, =leakwrap_bare_undefined_instruction\n\t"
	                 "b .\n\t"
	                 "ldr pc, =leakwrap_bare_prefetch_abort\n\t"
	                 "ldr pc, =leakwrap_bare_data_abort\n\t"
	                 "b .\n\tb .\n\tb .\n\t"
	                 ".ltorg\n\t");
}

void use_process_stack(void)
{
}

size_t exception_stack_used(void)
{
	return 0;
}

void interrupt(void (*handler)(void))
{
	handler();
}

void provoke(const char *exception)
{
	if (strcmp(exception, "data_abort") == 0)
		*(volatile int *)0xf0000000 = 1;
	else if (strcmp(exception, "prefetch_abort") == 0)
		((void (*)(void))0xf0000000)();
	else
		__asm__ volatile("udf #0" ::: "memory");
}

#endif

/* -- the start --------------------------------------------------------------------------------- */

void *_sbrk(ptrdiff_t size);
int _write(int fd, const char *bytes, int size);
int _read(int fd, char *bytes, int size);
int _close(int fd);
int _lseek(int fd, int offset, int whence);
int _fstat(int fd, struct stat *status);
int _isatty(int fd);
int _getpid(void);
int _kill(int pid, int signo);
void _exit(int status);

void *_sbrk(ptrdiff_t size)
{
	static char *next = heap_low;
	char *taken = next;

	if (size > (ptrdiff_t)((uintptr_t)heap_high - (uintptr_t)next)) {
		errno = ENOMEM;
		return (void *)-1;
	}
	next += size;
	return taken;
}

int _write(int fd, const char *bytes, int size)
{
	(void)fd;
	console_write(bytes, (size_t)size);
	return size;
}

int _read(int fd, char *bytes, int size)
{
	(void)fd, (void)bytes, (void)size;
	return 0;
}

int _close(int fd)
{
	(void)fd;
	return 0;
}

int _lseek(int fd, int offset, int whence)
{
	(void)fd, (void)offset, (void)whence;
	return 0;
}

int _fstat(int fd, struct stat *status)
{
	(void)fd;
	status->st_mode = S_IFCHR;
	return 0;
}

int _isatty(int fd)
{
	(void)fd;
	return 1;
}

int _getpid(void)
{
	return 1;
}

int _kill(int pid, int signo)
{
	(void)pid, (void)signo;
	return -1;
}

void _exit(int status)
{
	stop(status);
}
