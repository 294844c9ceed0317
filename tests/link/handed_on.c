/* handed_on.c WHAT - leaks what the C library's function WHAT returns, or calls one that keeps for
 * itself a copy that strdup made. */
#include <fcntl.h>
#include <glob.h>
#include <libintl.h>
#include <locale.h>
#include <mntent.h>
#include <netdb.h>
#include <obstack.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wordexp.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const time_t day = 86400;
	posix_spawn_file_actions_t actions;
	struct obstack stack;
	wordexp_t words;
	glob_t paths;

	if (strcmp(what, "tmpfile") == 0)
		return tmpfile() == NULL;
	if (strcmp(what, "setmntent") == 0)
		return setmntent("/proc/mounts", "r") == NULL;
	if (strcmp(what, "spawn") == 0) {
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_addopen(&actions, 3, "/dev/null", O_RDONLY, 0);
	} else if (strcmp(what, "obstack") == 0) {
		obstack_init(&stack);
		obstack_printf(&stack, "%5000d", 1);
	} else if (strcmp(what, "wordexp") == 0) {
		return wordexp("a b", &words, 0);
	} else if (strcmp(what, "glob") == 0) {
		return glob("/dev/nul?", 0, NULL, &paths);
	} else if (strcmp(what, "ctime") == 0) {
		return ctime(&day) == NULL;
	} else if (strcmp(what, "tzset") == 0) {
		tzset();
	} else if (strcmp(what, "localtime") == 0) {
		return localtime(&day) == NULL;
	} else if (strcmp(what, "setlocale") == 0) {
		return setlocale(LC_ALL, "C.UTF-8") == NULL;
	} else if (strcmp(what, "textdomain") == 0) {
		return textdomain("domain") == NULL || bindtextdomain("domain", "/dev") == NULL;
	}
	return 0;
}
