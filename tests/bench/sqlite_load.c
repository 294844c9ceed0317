/* sqlite_load.c - inserts rows into a database in memory and queries them. It compiles each query
 * anew, like many programs: blocks of many sizes, through many layers of a prebuilt archive. */
#include "workload.h"

#include <sqlite3.h>

static sqlite3 *database;

static void check(int status, int wanted)
{
	workload_check(status == wanted, sqlite3_errmsg(database));
}

static void run(const char *text)
{
	check(sqlite3_exec(database, text, NULL, NULL, NULL), SQLITE_OK);
}

int main(int argc, char **argv)
{
	struct workload workload = workload_of(argc, argv);
	const unsigned rows = workload_part(&workload, 150000),
	               queries = workload_part(&workload, 60000);
	sqlite3_stmt *statement;
	unsigned random = 1;
	long long sum = 0;

	check(sqlite3_open(":memory:", &database), SQLITE_OK);
	run("create table entry(id integer primary key, account text, amount integer);"
	    "create index by_account on entry(account); begin");
	check(sqlite3_prepare_v2(database, "insert into entry(account, amount) values(?, ?)", -1,
	                         &statement, NULL),
	      SQLITE_OK);
	for (unsigned i = 0; i < rows; i++) {
		char account[32];

		snprintf(account, sizeof(account), "account %u", workload_random(&random) >> 10);
		check(sqlite3_bind_text(statement, 1, account, -1, SQLITE_TRANSIENT), SQLITE_OK);
		check(sqlite3_bind_int(statement, 2, (int)i), SQLITE_OK);
		check(sqlite3_step(statement), SQLITE_DONE);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	run("commit");
	for (unsigned i = 0; i < queries; i++) {
		char text[128];

		snprintf(text, sizeof(text),
		         "select sum(amount), group_concat(id) from entry where account = 'account "
		         "%u'",
		         workload_random(&random) >> 10);
		check(sqlite3_prepare_v2(database, text, -1, &statement, NULL), SQLITE_OK);
		check(sqlite3_step(statement), SQLITE_ROW);
		sum += sqlite3_column_int64(statement, 0);
		sqlite3_finalize(statement);
	}
	printf("%lld\n", sum);
	if (!workload.keep)
		check(sqlite3_close(database), SQLITE_OK);
	return 0;
}
