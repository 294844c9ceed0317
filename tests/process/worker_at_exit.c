/* worker_at_exit.c - a program with the library of worker_library.c. */
#include <stdlib.h>
#include <unistd.h>

void worker_use(void);

int main(void)
{
	worker_use();
	free(malloc(5));
	usleep(20000);
	return 0;
}
