/* against_valgrind.c CASE - uses a shared library, and leaves blocks of its own and of the library.
 * Each CASE is compiled alone, with -DCASE_<name>. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/noinline.h"

/* The loader makes a table for each thread with an entry for each module that has such variables.
 * The tracer has one, so the untraced program gets one, too. */
static _Thread_local volatile int counted;

static void *volatile kept[8];

static NOINLINE void keep_own(void)
{
	counted++;
	kept[0] = malloc(1234);
	free(malloc(77));
}

#ifdef CASE_glib
#include <glib.h>

static gboolean stop(gpointer loop)
{
	g_main_loop_quit(loop);
	return G_SOURCE_REMOVE;
}

static NOINLINE void work(void)
{
	GMainLoop *loop = g_main_loop_new(NULL, FALSE);
	GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (int i = 0; i < 50; i++)
		g_hash_table_insert(table, g_strdup_printf("key %d", i), g_strdup("value"));
	g_timeout_add(1, stop, loop);
	g_main_loop_run(loop);
	g_main_loop_unref(loop);
	g_hash_table_remove(table, "key 7");
	kept[1] = table;
}
#endif

#ifdef CASE_xml
#include <libxml/parser.h>
#include <libxml/xpath.h>

static NOINLINE void work(void)
{
	static const char text[] = "<a><b c='1'>one</b><b c='2'>two</b></a>";
	xmlDocPtr document = xmlReadMemory(text, sizeof(text) - 1, "text.xml", NULL, 0);
	xmlXPathContextPtr context = xmlXPathNewContext(document);

	xmlXPathFreeObject(xmlXPathEvalExpression(BAD_CAST "//b[@c='2']", context));
	xmlXPathFreeContext(context);
	kept[1] = document;
}
#endif

#ifdef CASE_sqlite
#include <sqlite3.h>

static NOINLINE void work(void)
{
	sqlite3 *database;
	char *message = NULL;

	if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
	    sqlite3_exec(database,
	                 "create table t(a, b); insert into t values(1, 'one'), (2, 'two');"
	                 "create index i on t(a); select * from t where a > 1",
	                 NULL, NULL, &message) != SQLITE_OK)
		exit(1);
	kept[1] = database;
	kept[2] = sqlite3_mprintf("%s", "kept");
}
#endif

#ifdef CASE_curl
#include <curl/curl.h>

static NOINLINE void work(void)
{
	CURL *handle;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	handle = curl_easy_init();
	curl_easy_setopt(handle, CURLOPT_URL, "file:///etc/hostname");
	curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
	curl_easy_perform(handle);
	kept[1] = handle;
}
#endif

#ifdef CASE_openssl
#include <openssl/evp.h>
#include <openssl/ssl.h>

static NOINLINE void work(void)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	EVP_MD_CTX *digest = EVP_MD_CTX_new();
	unsigned char sum[64];

	EVP_DigestInit_ex(digest, EVP_sha256(), NULL);
	EVP_DigestUpdate(digest, "text", 4);
	EVP_DigestFinal_ex(digest, sum, NULL);
	kept[1] = SSL_new(context);
	kept[2] = digest;
}
#endif

#ifdef CASE_python
#include <Python.h>

static NOINLINE void work(void)
{
	Py_Initialize();
	PyRun_SimpleString("import json\nx = json.loads('[1, 2, {\"a\": \"b\"}]')\n");
	Py_Finalize();
}
#endif

#ifdef CASE_plugin
#include <dlfcn.h>

static NOINLINE void work(void)
{
	for (int i = 0; i < 3; i++) {
		void *plugin = dlopen(getenv("PLUGIN"), RTLD_NOW);
		void *(*make)(int) = NULL;

		if (plugin)
			*(void **)&make = dlsym(plugin, "make");
		if (!make)
			exit(1);
		kept[1 + i] = make(i);
		if (i > 0)
			dlclose(plugin);
	}
}
#endif

#ifdef CASE_libc
#include <glob.h>
#include <locale.h>
#include <netdb.h>
#include <regex.h>
#include <search.h>
#include <time.h>

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static NOINLINE void work(void)
{
	static regex_t expression;
	static struct addrinfo *addresses;
	static glob_t found;
	static void *tree;
	char *word = NULL;
	time_t now = 0;

	setlocale(LC_ALL, "C.UTF-8");
	regcomp(&expression, "a(b|c)*", REG_EXTENDED);
	getaddrinfo("127.0.0.1", "80", NULL, &addresses);
	glob("/etc/host*", 0, NULL, &found);
	tsearch("one", &tree, compare);
	if (sscanf("word", "%ms", &word) != 1)
		exit(1);
	kept[1] = word;
	kept[2] = fopen("/dev/null", "r");
	kept[3] = localtime(&now);
}
#endif

int main(void)
{
	keep_own();
	work();
	printf("done\n");
	return 0;
}
