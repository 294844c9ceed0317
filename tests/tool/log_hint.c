/* log_hint.c - a program that waits.  With "user" it gives up its rights first, as daemons do; with
 * "limit" its files may not become larger than 64 bytes. */
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct rlimit limit = {64, 64};
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "user") == 0 &&
	    (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
		return 2;
	if (strcmp(how, "limit") == 0 && setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 2;
	signal(SIGXFSZ, SIG_IGN);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
