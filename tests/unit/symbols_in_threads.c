/* symbols_in_threads.c - threads look up functions of the program (report/elf_symbols.c) for the
 * first time, all at once, while a dump begins.
 * sources: report/elf_symbols.c wrap/module/dynamic_symbols.c wrap/port/linux*.c */
#include "report/elf_symbols.h"
#include "unit.h"

#include <link.h>
#include <pthread.h>
#include <string.h>

enum { THREADS = 4 };

static struct leakwrap_module module = {.is_program = true, .is_permanent = true, .path = "?"};
static pthread_barrier_t barrier;

/* The program is the first module. */
static int describe(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	module.bias = info->dlpi_addr;
	module.start = UINTPTR_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		if (start < module.start)
			module.start = start;
		if (start + part->p_memsz > module.end)
			module.end = start + part->p_memsz;
	}
	return 1;
}

static void *look_up(void *begins_dump)
{
	uintptr_t offset;
	const char *name;

	pthread_barrier_wait(&barrier);
	if (begins_dump)
		leakwrap_symbols_start();
	name = leakwrap_symbol(&module, (uintptr_t)look_up, &offset);
	CHECK(name && strcmp(name, "look_up") == 0 && offset == 0);
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];

	dl_iterate_phdr(describe, NULL);
	CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, look_up, i == 0 ? &barrier : NULL) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
