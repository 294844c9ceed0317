/* sqlite.c [ROWS] - a database in memory: tables, an index, a transaction, queries, an error. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static int run(sqlite3 *db, const char *sql)
{
	char *message = NULL;
	int result = sqlite3_exec(db, sql, NULL, NULL, &message);

	sqlite3_free(message);
	return result;
}

static int insert(sqlite3 *db, int rows)
{
	sqlite3_stmt *insert = NULL;
	int result = sqlite3_prepare_v2(db, "INSERT INTO t VALUES (?1, ?2, ?3)", -1, &insert, NULL);

	for (int i = 0; result == SQLITE_OK && i < rows; i++) {
		char text[64];

		snprintf(text, sizeof text, "row %d of the table", i);
		sqlite3_bind_int(insert, 1, i);
		result = sqlite3_bind_text(insert, 2, text, -1, SQLITE_TRANSIENT);
		if (result == SQLITE_OK)
			result = sqlite3_bind_double(insert, 3, i * 1.5);
		if (result == SQLITE_OK && sqlite3_step(insert) != SQLITE_DONE)
			result = SQLITE_ERROR;
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	return result;
}

static int query(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *select = NULL;
	int result = sqlite3_prepare_v2(db, sql, -1, &select, NULL);

	if (result == SQLITE_OK)
		do
			result = sqlite3_step(select);
		while (result == SQLITE_ROW);
	sqlite3_finalize(select);
	return result == SQLITE_DONE ? SQLITE_OK : result;
}

int main(int argc, char **argv)
{
	static const char *const queries[] = {
	        "SELECT b, sum(c) FROM t WHERE a > 10 GROUP BY b HAVING sum(c) > 3 ORDER BY 2 DESC",
	        "SELECT * FROM t JOIN u ON t.a = u.x WHERE t.b LIKE 'row%' LIMIT 10",
	        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) "
	         "SELECT group_concat(i || 'x') FROM n"),
	        "SELECT upper(b), printf('%08.3f', c), json('{\"a\": [1, 2]}') FROM t ORDER BY b",
	};
	sqlite3 *db = NULL;
	int result = sqlite3_open(":memory:", &db);

	if (result == SQLITE_OK)
		result = run(db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL);"
		                 "CREATE INDEX t_b ON t (b, c); CREATE TABLE u (x, y);"
		                 "CREATE VIEW v AS SELECT a, b FROM t WHERE c > 5;"
		                 "CREATE TRIGGER g AFTER INSERT ON t BEGIN "
		                 "INSERT INTO u VALUES (new.a, new.b); END; BEGIN");
	if (result == SQLITE_OK)
		result = insert(db, argc > 1 ? atoi(argv[1]) : 100);
	if (result == SQLITE_OK)
		result = run(db, "COMMIT; UPDATE t SET c = c + 1 WHERE a % 2; "
		                 "DELETE FROM t WHERE a = 7; VACUUM");
	for (unsigned i = 0; result == SQLITE_OK && i < sizeof queries / sizeof *queries; i++)
		result = query(db, queries[i]);
	if (result == SQLITE_OK && run(db, "SELECT nothing FROM nowhere") == SQLITE_NOMEM)
		result = SQLITE_NOMEM;
	sqlite3_close(db);
	sqlite3_shutdown();
	return result == SQLITE_OK ? 0 : 1;
}
