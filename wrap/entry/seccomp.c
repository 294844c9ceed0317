/* seccomp.c - the functions by which a program enters a sandbox of seccomp(2).
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "wrap/entry/define.h"
#include "wrap/port/linux_filter.h"
#include "wrap/port/port.h"
#include "wrap/runtime/sandbox.h"

/* Linux, uapi/linux/prctl.h, uapi/linux/seccomp.h, uapi/linux/bpf_common.h. */
#define SET_SECCOMP 22
#define STRICT      1
#define FILTER      2
#define STEPS_MAX   4096

#if defined LEAKWRAP_ENTRY_prctl || defined LEAKWRAP_ENTRY_syscall

/* Instructions of classic BPF and results of filters (uapi/linux/bpf_common.h, seccomp.h). */
enum { LOAD_WORD = 0x20, JUMP_IF_EQUAL = 0x15, RETURN = 0x06, KILL = 0, ALLOW = 0x7fff0000 };

/* What the strict mode allows (seccomp(2)), as a filter.  The system call's number comes first in
 * struct seccomp_data. */
static const struct leakwrap_filter_step strict[] = {
        {LOAD_WORD, 0, 0, 0},
        {JUMP_IF_EQUAL, 4, 0, __NR_read},
        {JUMP_IF_EQUAL, 3, 0, __NR_write},
        {JUMP_IF_EQUAL, 2, 0, __NR_exit},
        {JUMP_IF_EQUAL, 1, 0, __NR_rt_sigreturn},
        {RETURN, 0, 0, KILL},
        {RETURN, 0, 0, ALLOW},
};

/* Returns whether the SIZE bytes at START can be read.  True if a filter forbids the tracer to find
 * that out. */
static bool may_read(const void *start, size_t size)
{
	const uintptr_t end = (uintptr_t)start + size;

	if (!leakwrap_readable((uintptr_t)&end))
		return true;
	for (uintptr_t at = (uintptr_t)start; at < end; at += LEAKWRAP_PAGE)
		if (!leakwrap_readable(at))
			return false;
	return leakwrap_readable(end - 1);
}

/* Returns whether prctl(SET_SECCOMP, MODE, ADDRESS) installs a filter or begins the strict mode,
 * unless the kernel refuses it.  Then sets *PROGRAM to the filter. */
static bool enters_sandbox(unsigned long mode, unsigned long address,
                           struct leakwrap_filter_program *program)
{
	const struct leakwrap_filter_program *const wanted = (const void *)address;

	if (mode != STRICT && mode != FILTER)
		return false;
	if (mode == STRICT)
		*program = (struct leakwrap_filter_program){sizeof(strict) / sizeof(strict[0]),
		                                            strict};
	else if (wanted && may_read(wanted, sizeof(*wanted)))
		*program = *wanted;
	else
		return false;
	return program->steps && program->count > 0 && program->count <= STEPS_MAX &&
	       may_read(program->steps, program->count * sizeof(program->steps[0]));
}

#endif

#ifdef LEAKWRAP_ENTRY_prctl
ENTRY_DECLARE(int, prctl, (int option, ...));

/* Like the C library, takes four more arguments, whatever the caller passed. */
int __wrap_prctl(int option, ...)
{
	struct leakwrap_filter_program program;
	struct leakwrap_sandbox sandbox;
	unsigned long more[4];
	va_list list;
	int result;

	va_start(list, option);
	for (unsigned i = 0; i < 4; i++)
		more[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option != SET_SECCOMP || !enters_sandbox(more[0], more[1], &program))
		return __real_prctl(option, more[0], more[1], more[2], more[3]);
	sandbox = leakwrap_sandbox_begin(&program);
	result = __real_prctl(option, more[0], more[1], more[2], more[3]);
	if (result != 0)
		leakwrap_sandbox_undo(&sandbox);
	return result;
}
#endif

#ifdef LEAKWRAP_ENTRY_syscall

/* The arguments that lie in registers, but no others.  The jump to the original leaves those on the
 * stack as they are.  Where few lie in registers, those of seccomp(2) are enough. */
#if defined __x86_64__
#define REGISTER_PARAMETERS , long d, long e
#define REGISTER_ARGUMENTS  , d, e
#elif defined __arm__ || defined __i386__ || defined __mips__
#define REGISTER_PARAMETERS
#define REGISTER_ARGUMENTS
#else
#define REGISTER_PARAMETERS , long d, long e, long f
#define REGISTER_ARGUMENTS  , d, e, f
#endif

ENTRY_DECLARE(long, syscall, (long number, long a, long b, long c REGISTER_PARAMETERS));

/* Old headers lack it. */
#ifndef __NR_seccomp
#define __NR_seccomp (-1)
#endif

/* A flag of seccomp(2): the result is a descriptor. */
#define FLAG_NEW_LISTENER 8

/* The call begins a sandbox, unless the kernel refuses it.  Not static: assembly refers to it. */
long leakwrap_enter_sandbox(long number, long a, long b, long c REGISTER_PARAMETERS);
__attribute__((noinline)) long leakwrap_enter_sandbox(long number, long a, long b,
                                                      long c REGISTER_PARAMETERS)
{
	const bool is_prctl = number != __NR_seccomp;
	/* The operations of seccomp(2) are the modes of prctl(2) less one.  Of a number of 32 bits
	 * the upper half of the argument may hold anything. */
	const unsigned long mode = is_prctl ? (unsigned long)b : (unsigned)a + STRICT;
	/* So libseccomp finds out whether the kernel knows seccomp(2). */
	const bool is_refused = !is_prctl && mode == STRICT && ((unsigned)b != 0 || c != 0);
	struct leakwrap_filter_program program;
	struct leakwrap_sandbox sandbox;
	long result;

	if (is_refused || !enters_sandbox(mode, (unsigned long)c, &program))
		return __real_syscall(number, a, b, c REGISTER_ARGUMENTS);
	sandbox = leakwrap_sandbox_begin(&program);
	result = __real_syscall(number, a, b, c REGISTER_ARGUMENTS);
	/* It may also be the number of a thread that could not enter the sandbox. */
	if (result < 0 || (result > 0 && (is_prctl || (b & FLAG_NEW_LISTENER) == 0)))
		leakwrap_sandbox_undo(&sandbox);
	return result;
}

/* Jumps to the original, with the stack and the return address of the call: some system calls
 * return with another stack, or do not return. */
#ifdef __i386__
#define AS_TEXT(number)    AS_TEXT_OF(number)
#define AS_TEXT_OF(number) #number

/* All arguments lie on the stack, and behind the last may lie variables of the caller.  A compiler
 * would copy them, and write them back. */
// clang-format off
__asm__(".pushsection .text\n"
        ".globl __wrap_syscall\n"
        ".type __wrap_syscall, @function\n"
        "__wrap_syscall:\n"
        ".cfi_startproc\n"
        "cmpl $" AS_TEXT(__NR_seccomp) ", 4(%esp)\n"
        "je leakwrap_enter_sandbox\n"
        "cmpl $" AS_TEXT(__NR_prctl) ", 4(%esp)\n"
        "jne 1f\n"
        "cmpl $" AS_TEXT(SET_SECCOMP) ", 8(%esp)\n"
        "je leakwrap_enter_sandbox\n"
        "1: call 2f\n"
        ".cfi_adjust_cfa_offset 4\n"
        "2: popl %eax\n"
        ".cfi_adjust_cfa_offset -4\n"
        "addl $_GLOBAL_OFFSET_TABLE_ + (. - 2b), %eax\n"
        "jmp *__real_syscall@GOT(%eax)\n"
        ".cfi_endproc\n"
        ".size __wrap_syscall, . - __wrap_syscall\n"
        ".popsection\n");
// clang-format on
#else
long __wrap_syscall(long number, long a, long b, long c REGISTER_PARAMETERS)
{
	if (leakwrap_unlikely(number == __NR_seccomp ||
	                      (number == __NR_prctl && (int)a == SET_SECCOMP)))
		return leakwrap_enter_sandbox(number, a, b, c REGISTER_ARGUMENTS);
	return __real_syscall(number, a, b, c REGISTER_ARGUMENTS);
}
#endif
#endif

/* libseccomp's function.  In a dynamic program its calls of prctl are not wrapped. */
#ifdef LEAKWRAP_ENTRY_seccomp_load
ENTRY_DECLARE(int, seccomp_load, (const void *context));

/* Writes the filter of CONTEXT to FD.  Returns 0 if that succeeded. */
extern int seccomp_export_bpf(const void *context, int fd) __attribute__((weak));

/* Begins the sandbox of CONTEXT.  Exports the filter, because its form inside CONTEXT is not
 * public.  An earlier filter may forbid that: then the filter is not known. */
static struct leakwrap_sandbox begin(const void *context)
{
	const int fd = seccomp_export_bpf ? leakwrap_memory_file() : -1;
	const bool is_exported = fd >= 0 &&
	                         !leakwrap_filters_forbid(__NR_write, (const long[6]){fd}) &&
	                         seccomp_export_bpf(context, fd) == 0;
	const size_t size = is_exported ? (size_t)leakwrap_file_size(fd) : 0;
	const void *const steps = size > 0 ? leakwrap_file_map(fd, 0, size) : NULL;
	const struct leakwrap_filter_program program = {
	        .count = (unsigned short)(size / sizeof(program.steps[0])), .steps = steps};
	const struct leakwrap_sandbox sandbox = leakwrap_sandbox_begin(steps ? &program : NULL);

	if (steps)
		leakwrap_file_unmap(steps, 0, size);
	if (fd >= 0)
		leakwrap_close(fd);
	return sandbox;
}

int __wrap_seccomp_load(const void *context)
{
	const struct leakwrap_sandbox sandbox = begin(context);
	const int result = __real_seccomp_load(context);

	if (result != 0)
		leakwrap_sandbox_undo(&sandbox);
	return result;
}
#endif
