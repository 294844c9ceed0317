/* seccomp.c - the functions by which a program enters a sandbox of seccomp(2).
 *
 * A program may also use syscall(2).  That is not wrapped: some system calls do not return to a
 * wrapper as functions do.
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

#ifdef LEAKWRAP_ENTRY_prctl
ENTRY_DECLARE(int, prctl, (int option, ...));

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

/* Returns whether the call installs a filter or begins the strict mode, unless the kernel refuses
 * it.  Then sets *PROGRAM to the filter. */
static bool enters_sandbox(int option, unsigned long mode, unsigned long address,
                           struct leakwrap_filter_program *program)
{
	const struct leakwrap_filter_program *const wanted = (const void *)address;

	if (option != SET_SECCOMP || (mode != STRICT && mode != FILTER))
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
	if (!enters_sandbox(option, more[0], more[1], &program))
		return __real_prctl(option, more[0], more[1], more[2], more[3]);
	sandbox = leakwrap_sandbox_begin(&program);
	result = __real_prctl(option, more[0], more[1], more[2], more[3]);
	if (result != 0)
		leakwrap_sandbox_undo(&sandbox);
	return result;
}
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
