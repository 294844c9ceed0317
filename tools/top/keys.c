/* keys.c - does what the user types, see top.h. */
#include "tools/top/top.h"

#if __has_include(<curses.h>)

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Writes the SIZE bytes to FD.  Returns false with errno set if that is not possible. */
static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		const ssize_t written = write(fd, bytes, size);
		if (written < 0 && errno != EINTR)
			return false;
		bytes += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
	return true;
}

/* Writes the dumps that are shown to a new file of the current folder.  There is no file if they
 * cannot all be written. */
static void write_dumps(struct top *top)
{
	char name[64];
	int fd = -1;
	for (unsigned i = 1; i < 1000 && fd < 0; i++) {
		snprintf(name, sizeof name, "leakwrap-%d-%u.log", top->only, i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	bool fine = fd >= 0;
	for (size_t i = 0; fine && i < top->watch.target_count; i++) {
		const struct target *target = top->watch.targets[i];
		if (is_shown(top, target) && target->raw)
			fine = write_all(fd, target->raw, target->raw_size);
	}
	if (fine)
		snprintf(top->message, sizeof top->message, "%s has the dumps", name);
	else
		snprintf(top->message, sizeof top->message, "%s: %s", name, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !fine)
		unlink(name);
}

static void show_next_process(struct top *top)
{
	bool found = top->only == 0;
	pid_t next = 0;
	for (size_t i = 0; i < top->watch.target_count && !next; i++) {
		const struct target *target = top->watch.targets[i];
		if (found && !target->ended && watch_last(target))
			next = target->pid;
		found |= target->pid == top->only;
	}
	top->only = next;
	forget_rows(top);
}

static void type_filter(struct top *top, int key)
{
	size_t length = strlen(top->filter);
	if (key == '\n' || key == KEY_ENTER || key == 27)
		top->typing = false;
	else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length)
		top->filter[length - 1] = '\0';
	else if (key >= ' ' && key < 127 && length < FILTER_MAX)
		top->filter[length] = (char)key;
}

static void mark(struct top *top)
{
	top->has_baseline = !top->has_baseline;
	for (size_t i = 0; i < top->row_count; i++)
		top->rows[i]->baseline = top->rows[i]->bytes;
}

static void move_selection(struct top *top, int by)
{
	long at = (long)top->selected + by;
	top->selected = at < 0 ? 0 : (size_t)at;
}

/* Asks twice as often, or half as often. */
static void change_interval(struct top *top, bool is_shorter)
{
	double *interval = &top->watch.options.interval;

	if (is_shorter && *interval > 1)
		*interval /= 2;
	else if (!is_shorter && *interval < 3600)
		*interval *= 2;
	top->options.interval = *interval;
}

bool take_key(struct top *top, int key)
{
	int page = LINES > HEAD_LINES + 1 ? LINES - HEAD_LINES - 1 : 1;

	*top->message = '\0';
	top->is_stale = true;
	if (top->typing) {
		type_filter(top, key);
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case ' ':
		top->frozen = !top->frozen;
		break;
	case 'h':
	case '?':
		top->help = !top->help;
		break;
	case 'g':
		top->view = (top->view + 1) % VIEWS;
		forget_rows(top);
		break;
	case 's':
		top->order = (top->order + 1) % ORDERS;
		break;
	case '/':
		memset(top->filter, 0, sizeof top->filter);
		top->typing = true;
		break;
	case 'b':
		mark(top);
		break;
	case 'p':
		show_next_process(top);
		break;
	case 'w':
		write_dumps(top);
		break;
	case '+':
	case '-':
		change_interval(top, key == '+');
		break;
	case '\n':
	case KEY_ENTER:
		top->expanded = !top->expanded;
		break;
	case KEY_UP:
	case KEY_DOWN:
		move_selection(top, key == KEY_UP ? -1 : 1);
		break;
	case KEY_PPAGE:
	case KEY_NPAGE:
		move_selection(top, key == KEY_PPAGE ? -page : page);
		break;
	default:
		break;
	}
	return true;
}

#endif
