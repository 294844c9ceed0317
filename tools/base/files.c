/* files.c - see files.h. */
#include "tools/base/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/table.h"

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

/* What tells a file from all others while it exists. */
struct identity {
	dev_t device;
	ino_t inode;
};

static struct {
	pthread_mutex_t lock;
	struct table table; /* of struct identity, which stay until the tool ends */
} inputs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool identity_equal(const void *key, const void *entry)
{
	const struct identity *a = key, *b = entry;

	return a->device == b->device && a->inode == b->inode;
}

static uint64_t identity_hash(const struct identity *identity)
{
	return hash_word(hash_word(0, identity->device), identity->inode);
}

static void remember(const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return;
	const struct identity identity = {status->st_dev, status->st_ino};
	const uint64_t hash = identity_hash(&identity);
	pthread_mutex_lock(&inputs.lock);
	if (!table_find(&inputs.table, hash, &identity, identity_equal)) {
		struct identity *entry = xmalloc(sizeof *entry);
		*entry = identity;
		table_add(&inputs.table, hash, entry);
	}
	pthread_mutex_unlock(&inputs.lock);
}

void remember_input(int descriptor)
{
	struct stat status;

	if (fstat(descriptor, &status) == 0)
		remember(&status);
}

void remember_input_path(const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0)
		remember(&status);
}

bool is_input(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	const struct identity identity = {status.st_dev, status.st_ino};
	pthread_mutex_lock(&inputs.lock);
	const bool found = table_find(&inputs.table, identity_hash(&identity), &identity,
	                              identity_equal) != NULL;
	pthread_mutex_unlock(&inputs.lock);
	return found;
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
