/* execute_only.c [WHEN] - leaks a block below two functions.  "first": makes its own code
 * unreadable before that.  "key": does so by a protection key.  "between": has leaked another block
 * before.  "library": makes the code of its library unreadable, and leaks a block that the library
 * has asked for.  Status 9: the processor reads it all the same.  With IS_LIBRARY the library. */
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef IS_LIBRARY

void call(void (*function)(int), int size);

void call(void (*function)(int), int size)
{
	volatile char place[100];

	place[size] = 1;
	function(size);
	place[size] = place[0];
}

#else

static char *volatile kept;

void leak(int size);
void middle(int size);
void other(int size);

/* The library's function, with HAS_LIBRARY. */
void call(void (*function)(int), int size);

__attribute__((noinline)) void leak(int size)
{
	kept = malloc((size_t)size);
	kept[0] = 1;
}

__attribute__((noinline)) void middle(int size)
{
	volatile char place[100];

	place[size] = 1;
	leak(size);
	kept[1] = place[size];
}

#ifndef HAS_LIBRARY
void call(void (*function)(int), int size)
{
	function(size);
}
#endif

__attribute__((noinline)) void other(int size)
{
	volatile char place[200];

	place[size] = 1;
	leak(size);
	kept[1] = place[size];
}

static const char *closed = ""; /* what the name of the module begins with, behind its folder */

static int key = -1; /* of memory that must not be read (pkeys(7)); -1: none */

static int protect(char *page, size_t size)
{
	return key < 0 ? mprotect(page, size, PROT_EXEC)
	               : pkey_mprotect(page, size, PROT_READ | PROT_EXEC, key);
}

/* Makes the code of the module unreadable.  Its other data is not in the same segment.  The program
 * is the first module, and has no name. */
static int close_code(struct dl_phdr_info *module, size_t size, void *start)
{
	const char *const slash = strrchr(module->dlpi_name, '/');

	(void)size;
	if (strncmp(slash ? slash + 1 : module->dlpi_name, closed, strlen(closed)) != 0)
		return 0;
	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *const segment = &module->dlpi_phdr[i];
		const uintptr_t at = module->dlpi_addr + segment->p_vaddr;
		char *const page = (char *)at - at % 4096;

		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
			continue;
		if (protect(page, segment->p_memsz + at % 4096) != 0)
			exit(1);
		*(char **)start = page;
	}
	return 1;
}

int main(int argc, char **argv)
{
	char *code = NULL;

	if (argc > 1 && strcmp(argv[1], "library") == 0)
		closed = "libcalls";
	if (argc > 1 && strcmp(argv[1], "key") == 0 &&
	    (key = pkey_alloc(0, PKEY_DISABLE_ACCESS)) < 0)
		return 9;
	if (argc > 1 && strcmp(argv[1], "between") == 0)
		other(43);
	if (argc > 1) {
		dl_iterate_phdr(close_code, &code);
		/* The kernel reads the mask before it refuses the first argument. */
		if (syscall(SYS_rt_sigprocmask, -1, code, NULL, 8) != -1 || errno != EFAULT)
			return 9;
	}
	if (*closed)
		call(leak, 44);
	else
		middle(44);
	return 0;
}

#endif
