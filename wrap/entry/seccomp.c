/* seccomp.c - the functions by which a program enters a sandbox of seccomp(2).
 *
 * A program may also use syscall(2).  That is not wrapped: some system calls do not return to a
 * wrapper as functions do.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>. */
#include <stdarg.h>
#include <stddef.h>

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

/* Returns whether the call installs a filter or begins the strict mode, unless the kernel refuses
 * it.  Then sets *PROGRAM to the filter.  It is NULL for the strict mode, which allows read(2),
 * write(2), _exit(2) and sigreturn(2). */
static bool enters_sandbox(int option, unsigned long mode, unsigned long address,
                           const struct leakwrap_filter_program **program)
{
	*program = mode == FILTER ? (const struct leakwrap_filter_program *)address : NULL;
	if (option != SET_SECCOMP)
		return false;
	return mode == STRICT || (*program && (*program)->steps && (*program)->count > 0 &&
	                          (*program)->count <= STEPS_MAX);
}

/* Like the C library, takes four more arguments, whatever the caller passed. */
int __wrap_prctl(int option, ...)
{
	const struct leakwrap_filter_program *program;
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
	sandbox = leakwrap_sandbox_begin(program);
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
 * public. */
static struct leakwrap_sandbox begin(const void *context)
{
	const int fd = seccomp_export_bpf ? leakwrap_memory_file() : -1;
	const bool is_exported = fd >= 0 && seccomp_export_bpf(context, fd) == 0;
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
