/* locked_memory.c - locks its future memory, of which it may lock 8 MB, and allocates blocks until
 * there is no memory. Prints how many blocks it got. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMIT = 8 << 20, SKIPPED = 77 };

int main(void)
{
	const struct rlimit limit = {LIMIT, LIMIT};
	unsigned long count = 0;
	void *block;

	free(malloc(100));
	/* The limit does not hold for root. */
	if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setuid(65534) != 0))
		return SKIPPED;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || mlockall(MCL_FUTURE) != 0)
		return SKIPPED;
	while ((block = malloc(1000)) != NULL) {
		memset(block, 1, 1000);
		count++;
	}
	munlockall();
	printf("%lu\n", count);
	return 0;
}
