/* data_is_no_code.c CASE - words of the stack lead to data that looks like code behind a call.
 *
 * "data": a function replaces its return address by the address of such data while it allocates 11
 * bytes.  "executable": so, where the kernel makes all memory executable.  "unmapped": so again and
 * again, while another thread takes the data away.  "late": first there is data, and later the
 * program generates code, which allocates 22 bytes, 100 times.  A last allocation of 33 bytes
 * follows. */
#include "tests/noinline.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#define PAGES  64u
#define ROUNDS 200000u

typedef void *allocator(size_t size);

static char *data;
static size_t page;
static void *volatile kept;
static _Atomic int is_over;

/* x86: "call *%rax" fills the page. */
static void make_calls(char *at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (char)(i % 2 ? 0xd0 : 0xff);
}

NOINLINE static void *allocate_under(void *word, size_t size)
{
	void *volatile *const slot = (void *volatile *)__builtin_frame_address(0) + 1;
	void *const own = *slot;
	void *block;

	*slot = word;
	block = malloc(size);
	*slot = own;
	return block;
}

NOINLINE static int data_alone(void)
{
	make_calls(data, page);
	kept = allocate_under(data + 64, 11);
	return kept == NULL;
}

/* Nothing else may come to lie where the data was: so it is not unmapped, but as unreadable. */
static void *map_and_unmap(void *unused)
{
	make_calls(data, PAGES * page);
	while (!is_over) {
		mprotect(data, PAGES * page, PROT_NONE);
		mprotect(data, PAGES * page, PROT_READ | PROT_WRITE);
	}
	return unused;
}

NOINLINE static int data_unmapped(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, map_and_unmap, NULL) != 0)
		return 2;
	for (size_t i = 0; i < ROUNDS; i++)
		free(allocate_under(data + i % PAGES * page + 2 + i % 60 * 2, 11));
	is_over = 1;
	pthread_join(thread, NULL);
	return 0;
}

NOINLINE static size_t call(void *code)
{
	/* push %rbp; mov %rsp,%rbp; call *%rsi; pop %rbp; ret */
	static const char bytes[] = "\x55\x48\x89\xe5\xff\xd6\x5d\xc3";
	size_t (*generated)(size_t, allocator *);

	memcpy(code, bytes, sizeof(bytes));
	memcpy(&generated, &code, sizeof(code));
	if (mprotect(code, page, PROT_READ | PROT_EXEC) != 0)
		return 0;
	for (unsigned i = 0; i < 100; i++) {
		kept = (void *)generated(22, malloc);
		usleep(3000);
	}
	return kept != NULL;
}

NOINLINE static int code_after_data(void)
{
	int status = data_alone();

	status |= call(data + page) != 1;
	kept = malloc(33);
	return status;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "executable") == 0)
		personality(READ_IMPLIES_EXEC);
	page = (size_t)sysconf(_SC_PAGESIZE);
	data = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED || argc != 2)
		return 2;
	if (strcmp(argv[1], "late") == 0)
		return code_after_data();
	if (strcmp(argv[1], "unmapped") == 0)
		return data_unmapped();
	return data_alone();
}
