/* archives.c - allocates through four prebuilt libraries, in the main thread and in another one. */
#include "compare.h"

#include <glib.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

static void use_lua(void)
{
	lua_State *lua = luaL_newstate();

	luaL_openlibs(lua);
	if (luaL_dostring(lua,
	                  "local t = {} for i = 1, 300 do t[i] = ('x'):rep(i) .. i end "
	                  "table.sort(t, function(a, b) return #a > #b end) "
	                  "string.gsub(table.concat(t), '%d+', function(d) return ({d, d})[1] end) "
	                  "local co = coroutine.wrap(function() for i = 1, 60 do coroutine.yield({i}) "
	                  "end end) "
	                  "for i = 1, 50 do co() end pcall(error, {1})"))
		abort();
	lua_close(lua);
}

static int each_row(void *context, int columns, char **values, char **names)
{
	(void)context, (void)columns, (void)values, (void)names;
	free(malloc(10));
	return 0;
}

static void use_sqlite(void)
{
	sqlite3 *database;

	if (sqlite3_open(":memory:", &database) != SQLITE_OK)
		abort();
	if (sqlite3_exec(
	            database,
	            "create table t(a integer primary key, b text);"
	            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300) "
	            "insert into t select i, 'text ' || i from n;"
	            "create index x on t(b);"
	            "select group_concat(b), count(*), a % 7 from t where b like '%1%' group by a % 7 "
	            "order by b",
	            each_row, NULL, NULL) != SQLITE_OK)
		abort();
	sqlite3_close(database);
}

static void use_xml(void)
{
	static const char text[] = "<?xml version='1.0'?><a><b c='1'>x</b><b c='2'><d/>y</b></a>";
	xmlDoc *document = xmlReadMemory(text, sizeof(text) - 1, "a.xml", NULL, 0);
	xmlXPathContext *context = xmlXPathNewContext(document);
	xmlXPathObject *found = xmlXPathEvalExpression((const xmlChar *)"//b[@c='2']/d", context);

	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	xmlFreeDoc(document);
}

static gboolean each_node(gpointer key, gpointer value, gpointer context)
{
	(void)value;
	g_free(g_strdup_printf("%s %p", (char *)key, context));
	return FALSE;
}

static void use_glib(void)
{
	GTree *tree =
	        g_tree_new_full((GCompareDataFunc)(void (*)(void))g_strcmp0, NULL, g_free, g_free);
	GVariant *variant;

	for (int i = 0; i < 200; i++)
		g_tree_insert(tree, g_strdup_printf("key %d", i * 7 % 200), g_strdup("value"));
	g_tree_foreach(tree, each_node, tree);
	g_tree_destroy(tree);
	variant = g_variant_parse(NULL, "{'a': <(1, 'x', [1, 2, 3])>, 'b': <true>}", NULL, NULL, NULL);
	g_free(g_variant_print(variant, TRUE));
	g_variant_unref(variant);
}

static int by_value(const void *a, const void *b)
{
	free(malloc(1));
	return *(const int *)a - *(const int *)b;
}

static void use_libc(void)
{
	int numbers[] = {5, 3, 9, 1, 7, 2};

	qsort(numbers, sizeof(numbers) / sizeof(*numbers), sizeof(*numbers), by_value);
}

static void *use_all(void *unused)
{
	(void)unused;
	use_lua();
	use_sqlite();
	use_xml();
	use_glib();
	use_libc();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	compare_start();
	use_all(NULL);
	if (pthread_create(&thread, NULL, use_all, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 1;
	return compare_report() ? 0 : 1;
}
