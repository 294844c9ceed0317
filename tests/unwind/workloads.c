/* workloads.c - uses prebuilt libraries, see workloads.h. */
#include "workloads.h"

#include <glib.h>
#include <lauxlib.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <lualib.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static void use_lua(bool keep)
{
	lua_State *lua = luaL_newstate();

	luaL_openlibs(lua);
	if (luaL_dostring(
	            lua,
	            "t = {} for i = 1, 300 do t[i] = ('x'):rep(i) .. i end "
	            "table.sort(t, function(a, b) return #a > #b end) "
	            "string.gsub(table.concat(t), '%d+', function(d) return ({d, d})[1] end) "
	            "local co = coroutine.wrap(function() for i = 1, 60 do coroutine.yield({i}) "
	            "end end) "
	            "for i = 1, 50 do co() end pcall(error, {1})"))
		abort();
	if (!keep)
		lua_close(lua);
}

static int each_row(void *context, int columns, char **values, char **names)
{
	(void)context, (void)columns, (void)values, (void)names;
	free(malloc(10));
	return 0;
}

static void use_sqlite(bool keep)
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
	            "select group_concat(b), count(*), a % 7 from t where b like '%1%' group by a "
	            "% 7 "
	            "order by b",
	            each_row, NULL, NULL) != SQLITE_OK)
		abort();
	if (!keep)
		sqlite3_close(database);
}

static void use_xml(bool keep)
{
	static const char text[] = "<?xml version='1.0'?><a><b c='1'>x</b><b c='2'><d/>y</b></a>";
	xmlDoc *document = xmlReadMemory(text, sizeof(text) - 1, "a.xml", NULL, 0);
	xmlXPathContext *context = xmlXPathNewContext(document);
	xmlXPathObject *found = xmlXPathEvalExpression((const xmlChar *)"//b[@c='2']/d", context);

	if (keep)
		return;
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	xmlFreeDoc(document);
}

static char *volatile kept_by_thread;

static gboolean each_node(gpointer key, gpointer value, gpointer context)
{
	(void)value;
	g_free(g_strdup_printf("%s %p", (char *)key, context));
	return FALSE;
}

static gpointer in_other_thread(gpointer unused)
{
	kept_by_thread = g_strdup_printf("%p", unused);
	return NULL;
}

static void use_glib(bool keep)
{
	GTree *tree =
	        g_tree_new_full((GCompareDataFunc)(void (*)(void))g_strcmp0, NULL, g_free, g_free);
	GVariant *variant;

	for (int i = 0; i < 200; i++)
		g_tree_insert(tree, g_strdup_printf("key %d", i * 7 % 200), g_strdup("value"));
	g_tree_foreach(tree, each_node, tree);
	variant = g_variant_parse(NULL, "{'a': <(1, 'x', [1, 2, 3])>, 'b': <true>}", NULL, NULL,
	                          NULL);
	g_free(g_variant_print(variant, TRUE));
	g_thread_join(g_thread_new("other", in_other_thread, NULL));
	if (keep)
		return;
	g_tree_destroy(tree);
	g_variant_unref(variant);
}

static void use_crypto(bool keep)
{
	static const char message[] = "message";
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	BIO *text = BIO_new(BIO_s_mem());
	unsigned char signature[128];
	size_t size = sizeof(signature);

	if (!key || !context || !text ||
	    EVP_DigestSignInit_ex(context, NULL, "SHA256", NULL, NULL, key, NULL) != 1 ||
	    EVP_DigestSign(context, signature, &size, (const unsigned char *)message,
	                   sizeof(message)) != 1 ||
	    PEM_write_bio_PrivateKey(text, key, EVP_aes_128_cbc(), NULL, 0, NULL,
	                             (char *)(uintptr_t)message) != 1)
		abort();
	if (keep)
		return;
	BIO_free(text);
	EVP_MD_CTX_free(context);
	EVP_PKEY_free(key);
}

static volatile bool kept_by_callback;

static int by_value(const void *a, const void *b)
{
	void *block = malloc(1);

	if (!kept_by_callback)
		free(block);
	return *(const int *)a - *(const int *)b;
}

static void use_libc(bool keep)
{
	int numbers[] = {5, 3, 9, 1, 7, 2};

	kept_by_callback = keep;
	qsort(numbers, sizeof(numbers) / sizeof(*numbers), sizeof(*numbers), by_value);
}

bool use_library(const char *name, bool keep)
{
	static const struct {
		const char *name;
		void (*use)(bool keep);
	} libraries[] = {{"lua", use_lua},   {"sqlite", use_sqlite}, {"xml", use_xml},
	                 {"glib", use_glib}, {"crypto", use_crypto}, {"libc", use_libc}};
	bool used = false;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strcmp(name, libraries[i].name) == 0 || strcmp(name, "all") == 0) {
			libraries[i].use(keep);
			used = true;
		}
	return used;
}
