/* own_getline.c - an old program that defines its own getline in another object
 * (own_getline_part.c). */
#include <string.h>

int getline(char *line, int limit);

int main(void)
{
	char line[32767];

	for (int limit = 1; limit <= (int)sizeof(line); limit += 5461)
		if (getline(line, limit) != limit - 1 || (int)strlen(line) != limit - 1)
			return 1;
	return getline(line, 0) != -1;
}
