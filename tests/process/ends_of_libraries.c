/* ends_of_libraries.c HOW - a program that leaks 77 bytes, and whose library ends it by HOW. */
#include <stdlib.h>

void library_ends(const char *how);

static void *volatile kept;

int main(int count, char **words)
{
	kept = malloc(77);
	kept = NULL;
	library_ends(count > 1 ? words[1] : "");
	return 1;
}
