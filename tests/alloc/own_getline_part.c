/* own_getline_part.c - the getline of own_getline.c: a line of LIMIT - 1 characters. */
#include <string.h>

int getline(char *line, int limit);

int getline(char *line, int limit)
{
	if (limit <= 0)
		return -1;
	memset(line, 'x', (unsigned)limit - 1);
	line[limit - 1] = '\0';
	return limit - 1;
}
