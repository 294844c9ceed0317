/* state.c - see state.h. */
#include "tools/torture/state.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"

static const char file_name[] = "torture";

const char *state_path(struct arena *arena, const struct state *state, const char *name)
{
	return arena_format(arena, "%s/%s", state->folder, name);
}

const char *attempt_log(struct arena *arena, const struct state *state,
                        const struct attempt *attempt)
{
	return arena_format(arena, "%s/%016" PRIx64 ".%" PRIu64, state->folder,
	                    attempt->site->identity, attempt->hit);
}

/* The folder that is removed when the tool ends, or NULL. */
static char *temporary;

static void remove_temporary(void)
{
	DIR *folder = opendir(temporary);

	if (!folder)
		return;
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	rmdir(temporary);
}

/* Returns the absolute path of the folder PATH, which it makes if it is missing. */
static const char *make_folder(struct arena *arena, const char *path)
{
	if (!path) {
		const char *parent = getenv("TMPDIR");
		char *made = arena_format(arena, "%s/leakwrap-torture.XXXXXX",
		                          parent && *parent ? parent : "/tmp");
		if (!mkdtemp(made))
			die("%s: %s", made, strerror(errno));
		path = made;
		temporary = xstrdup(made);
		atexit(remove_temporary);
	} else if (mkdir(path, 0777) != 0 && errno != EEXIST) {
		die("%s: %s", path, strerror(errno));
	}
	char *absolute = realpath(path, NULL);
	if (!absolute)
		die("%s: %s", path, strerror(errno));
	const char *folder = arena_copy(arena, absolute, strlen(absolute));
	free(absolute);
	if (strpbrk(folder, "\"%,\n"))
		die("%s: the state folder's name must not contain \", %% or a comma", folder);
	return folder;
}

/* Cuts the list of attempts off at SIZE, in bytes: a torture that was killed, or met a full disk,
 * has written a part of a line there. */
static void drop_cut_line(struct state *state, size_t size)
{
	if (ftruncate(fileno(state->attempts), (off_t)size) != 0)
		die("%s: %s", state->folder, strerror(errno));
}

struct state state_open(struct arena *arena, const char *path, const char *subject)
{
	struct state state = {.folder = make_folder(arena, path)};
	const char *name = state_path(arena, &state, file_name);
	char *line = NULL;
	size_t room = 0;

	state.attempts = fopen(name, "ae+");
	if (!state.attempts)
		die("%s: %s", name, strerror(errno));
	rewind(state.attempts);
	const ssize_t got = getline(&line, &room, state.attempts);
	const bool is_whole = got > 0 && line[got - 1] == '\n';
	if (got > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (is_whole ? strcmp(line, subject) != 0
		             : strncmp(line, subject, strlen(line)) != 0)
			die("%s belongs to another torture: %s", state.folder, line);
	}
	if (!is_whole) {
		drop_cut_line(&state, 0);
		fprintf(state.attempts, "%s\n", subject);
		if (fflush(state.attempts) != 0)
			die("%s: %s", name, strerror(errno));
	}
	free(line);
	return state;
}

/* What tells an attempt from all others. */
struct attempt_key {
	uint64_t identity, hit; /* of its site; at which allocation there */
};

static bool is_attempt(const void *key, const void *entry)
{
	const struct attempt_key *wanted = key;
	const struct attempt *attempt = entry;

	return attempt->site->identity == wanted->identity && attempt->hit == wanted->hit;
}

static uint64_t hash_of_attempt(uint64_t identity, uint64_t hit)
{
	return hash_word(hash_word(0, identity), hit);
}

/* Returns a table of all attempts of TORTURE. */
static struct table table_of_attempts(struct torture *torture)
{
	struct table table = {0};

	for (size_t i = 0; i < torture->attempt_count; i++) {
		struct attempt *attempt = &torture->attempts[i];

		table_add(&table, hash_of_attempt(attempt->site->identity, attempt->hit), attempt);
	}
	return table;
}

/* Fills NUMBERS with the numbers of LINE.  Returns false if it has another number of them. */
static bool read_numbers(const char *line, uint64_t *numbers, size_t count)
{
	char *end = NULL;

	for (size_t i = 0; i < count; i++, line = end) {
		numbers[i] = strtoull(line, &end, i == 0 ? 16 : 10);
		if (end == line)
			return false;
	}
	return *line == '\n';
}

size_t state_resume(struct state *state, struct torture *torture)
{
	char *line = NULL;
	size_t room = 0, count = 0, size = 0;
	uint64_t numbers[8]; /* as state_add writes them */
	struct table attempts = table_of_attempts(torture);

	rewind(state->attempts);
	for (ssize_t got; (got = getline(&line, &room, state->attempts)) > 0; size += (size_t)got) {
		if (line[got - 1] != '\n') {
			drop_cut_line(state, size);
			break;
		}
		if (!read_numbers(line, numbers, sizeof numbers / sizeof *numbers))
			continue;
		const struct attempt_key key = {.identity = numbers[0], .hit = numbers[1]};
		struct attempt *attempt = table_find(
		        &attempts, hash_of_attempt(key.identity, key.hit), &key, is_attempt);
		if (!attempt || attempt->done)
			continue;
		attempt->done = true;
		attempt->status = (int)numbers[2];
		attempt->timed_out = numbers[3];
		attempt->forked = numbers[4];
		attempt->pid = (pid_t)numbers[5];
		attempt->missed = !numbers[6];
		attempt->ns = numbers[7];
		count++;
	}
	free(line);
	table_free(&attempts);
	fseek(state->attempts, 0, SEEK_END);
	return count;
}

void state_add(struct state *state, const struct attempt *attempt)
{
	fprintf(state->attempts, "%016" PRIx64 " %" PRIu64 " %d %d %d %d %d %" PRIu64 "\n",
	        attempt->site->identity, attempt->hit, attempt->status, attempt->timed_out,
	        attempt->forked, (int)attempt->pid, !attempt->missed, attempt->ns);
	if (fflush(state->attempts) != 0)
		die("%s: %s", state->folder, strerror(errno));
}

void state_close(struct state *state)
{
	fclose(state->attempts);
}
