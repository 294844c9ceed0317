/* first_failure.c CALL - makes one CALL, which gets no block.  Ends with status 3 if it got a
 * block. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Half of the addresses of 32 bits may well be free. */
static volatile const size_t too_large =
        sizeof(size_t) == 4 ? SIZE_MAX / 16 * 15 : (size_t)PTRDIFF_MAX - 4096;

/* Returns what posix_memalign stores, or NULL if it fails. */
static void *align_posix(size_t align, size_t size)
{
	void *block = NULL;

	return posix_memalign(&block, align, size) == 0 ? block : NULL;
}

/* Copies a string for which no address space is left. */
static char *copy_long_string(void)
{
	const size_t size = (size_t)64 << 20;
	char *original =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(original, 'x', size - 1);
	setrlimit(RLIMIT_AS, &(struct rlimit){size, size});
	return strdup(original);
}

int main(int argc, char **argv)
{
	const char *call = argv[argc - 1];
	void *volatile block = NULL;
	int status;

	if (strcmp(call, "malloc_0") == 0)
		block = malloc(0);
	else if (strcmp(call, "calloc_0") == 0)
		block = calloc(8, 0);
	else if (strcmp(call, "realloc_0") == 0)
		block = realloc(NULL, 0);
	else if (strcmp(call, "realloc_to_0") == 0)
		block = realloc(malloc(24), 0);
	else if (strcmp(call, "memalign_0") == 0)
		block = memalign(64, 0);
	else if (strcmp(call, "aligned_alloc_0") == 0)
		block = aligned_alloc(64, 0);
	else if (strcmp(call, "posix_memalign_0") == 0)
		block = align_posix(64, 0);
	else if (strcmp(call, "malloc") == 0)
		block = malloc(too_large);
	else if (strcmp(call, "realloc") == 0)
		block = realloc(malloc(24), too_large);
	else if (strcmp(call, "posix_memalign") == 0)
		block = align_posix(64, too_large);
	else if (strcmp(call, "bad_alignment") == 0)
		block = align_posix(3, 100);
	else if (strcmp(call, "missing_path") == 0)
		block = realpath("/nonexistent/path", NULL);
	else if (strcmp(call, "strdup") == 0)
		block = copy_long_string();
	else
		return 2;
	status = block ? 3 : 0;
	free(block);
	return status;
}
