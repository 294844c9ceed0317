/* files.c - see files.h. */
#include "tools/base/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int open_regular(const char *path)
{
	struct stat status;

	/* A look first: to open a device may have effects. */
	if (stat(path, &status) != 0)
		return -1;
	if (S_ISREG(status.st_mode)) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
			return fd;
		close(fd);
	}
	errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
	return -1;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const char *next_setting(struct setting_lines *lines)
{
	ssize_t length;

	while (errno = 0, (length = getline(&lines->line, &lines->room, lines->stream)) >= 0) {
		lines->number++;
		while (length > 0 && isspace((unsigned char)lines->line[length - 1]))
			lines->line[--length] = '\0';
		const char *text = lines->line + strspn(lines->line, " \t");
		if (*text != '\0' && *text != '#')
			return text;
	}
	return NULL;
}
