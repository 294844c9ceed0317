/* untouched_vectors.c - calls the functions of argz and envz that have nothing to do, with pointers
 * that lead nowhere.  Prints their results. */
#include <argz.h>
#include <envz.h>
#include <stdio.h>

int main(void)
{
	char **volatile vector = NULL;
	size_t *volatile length = NULL;
	char *volatile entry = NULL;
	const char *volatile text = NULL;

	printf("%d\n", argz_add_sep(vector, length, "", ':'));
	printf("%d\n", argz_replace(vector, length, "", "x", NULL));
	printf("%d\n", argz_replace(vector, length, text, "x", NULL));
	printf("%d\n", envz_merge(vector, length, text, 0, 1));
	argz_delete(vector, length, entry);
	return 0;
}
