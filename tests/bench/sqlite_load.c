/* sqlite_load.c - inserts rows into a database in memory and queries them: a whole program whose allocations
 * are a prebuilt archive's. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 100000, QUERIES = 40000 };

static sqlite3 *database;

static void check(int status, int wanted)
{
	if (status != wanted) {
		fprintf(stderr, "%s\n", sqlite3_errmsg(database));
		exit(1);
	}
}

static void run(const char *text)
{
	check(sqlite3_exec(database, text, NULL, NULL, NULL), SQLITE_OK);
}

int main(void)
{
	sqlite3_stmt *statement;
	unsigned random = 1;
	long long sum = 0;

	check(sqlite3_open(":memory:", &database), SQLITE_OK);
	run("create table entry(id integer primary key, account text, amount integer);"
	    "create index by_account on entry(account); begin");
	check(sqlite3_prepare_v2(database, "insert into entry(account, amount) values(?, ?)", -1,
	                         &statement, NULL),
	      SQLITE_OK);
	for (int i = 0; i < ROWS; i++) {
		char account[32];

		random = random * 1664525 + 1013904223;
		snprintf(account, sizeof(account), "account %u", random >> 18);
		check(sqlite3_bind_text(statement, 1, account, -1, SQLITE_TRANSIENT), SQLITE_OK);
		check(sqlite3_bind_int(statement, 2, i), SQLITE_OK);
		check(sqlite3_step(statement), SQLITE_DONE);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	run("commit");
	/* Each query is compiled anew, as programs do. */
	for (int i = 0; i < QUERIES; i++) {
		char text[128];

		random = random * 1664525 + 1013904223;
		snprintf(text, sizeof(text),
		         "select sum(amount), group_concat(id) from entry where account = 'account %u'",
		         random >> 18);
		check(sqlite3_prepare_v2(database, text, -1, &statement, NULL), SQLITE_OK);
		check(sqlite3_step(statement), SQLITE_ROW);
		sum += sqlite3_column_int64(statement, 0);
		sqlite3_finalize(statement);
	}
	printf("%lld\n", sum);
	check(sqlite3_close(database), SQLITE_OK);
	return 0;
}
