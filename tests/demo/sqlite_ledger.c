/* sqlite_ledger.c - the demo's second program: runs the SQL statements on standard input, one in
 * each
 * line, on a database in memory.
 *
 * It is linked with Debian's prebuilt libsqlite3.a. Three leaks are planted:
 *
 *   keep_history   keeps a copy of each statement;
 *   change         does not free the message if a statement fails: memory of the library;
 *   query          forgets to finalize its statement: memory of the library, and the database
 * itself
 *                  can then not be closed.
 *
 * After each statement it prints how many blocks SQLite believes to hold. A dump must agree. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

/* The latest statement. The statements before it are lost. */
static char *volatile last;

static NOINLINE void keep_history(const char *statement)
{
	last = strdup(statement);
}

static int held_blocks(void)
{
	int now = 0, peak = 0;

	sqlite3_status(SQLITE_STATUS_MALLOC_COUNT, &now, &peak, 0);
	return now;
}

static NOINLINE void change(sqlite3 *database, const char *statement)
{
	char *message = NULL;

	if (sqlite3_exec(database, statement, NULL, NULL, &message) != SQLITE_OK)
		printf("refused: %s", message);
	else
		printf("changed %d rows", sqlite3_changes(database));
}

static NOINLINE void query(sqlite3 *database, const char *text)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) != SQLITE_OK) {
		printf("refused");
		return;
	}
	while (sqlite3_step(statement) == SQLITE_ROW)
		printf("%s ", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_reset(statement);
}

/* Allocates and frees, as it should. No dump may list it. */
static NOINLINE char *trimmed(const char *line)
{
	size_t length = strcspn(line, "\n");
	char *copy = malloc(length + 1);

	if (!copy)
		exit(1);
	memcpy(copy, line, length);
	copy[length] = '\0';
	return copy;
}

int main(void)
{
	sqlite3 *database;
	char line[256];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (sqlite3_open(":memory:", &database) != SQLITE_OK)
		return 1;
	/* Newer versions of SQLite would put a whole small statement into this one block. */
	sqlite3_db_config(database, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
	while (fgets(line, sizeof(line), stdin)) {
		char *statement = trimmed(line);

		keep_history(statement);
		if (strncmp(statement, "select", 6) == 0)
			query(database, statement);
		else
			change(database, statement);
		free(statement);
		printf(", sqlite holds %d blocks\n", held_blocks());
	}
	if (sqlite3_close(database) != SQLITE_OK)
		printf("the database stays open");
	printf(", sqlite holds %d blocks\n", held_blocks());
	return 0;
}
