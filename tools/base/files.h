/* files.h - files that a user names. */
#ifndef TOOLS_BASE_FILES_H
#define TOOLS_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens the regular file PATH for reading.  Returns a descriptor, which the caller closes, or -1
 * with errno set.  Does not open a FIFO or a device, and never waits; then errno is EINVAL. */
int open_regular(const char *path);

/* Remembers that the tool reads the regular file of DESCRIPTOR.  Does nothing with other files.
 * Any thread may call it. */
void remember_input(int descriptor);

/* Does what remember_input does, for the file of PATH. */
void remember_input_path(const char *path);

/* Returns whether PATH leads to a file that the tool remembers.  Output would destroy it. */
bool is_input(const char *path);

/* Returns the last component of PATH. */
const char *base_name(const char *path);

/* The lines of a file.  Empty lines, and lines that begin with #, do not count. */
struct setting_lines {
	FILE *stream;
	unsigned long number; /* of the current line */
	char *line;           /* the caller's to free */
	size_t room;
};

/* Returns the next line that counts, without the blanks around it.  It is valid until the next
 * call.  Returns NULL with errno 0 at the end, and with errno set if the file cannot be read. */
const char *next_setting(struct setting_lines *lines);

#endif
