/* crypto_threads.c - eight threads build, encode, decode and compare X.509 names. There are more
 * threads than processors, and small blocks in deep layers of a prebuilt archive. */
#include "workload.h"

#include <openssl/x509.h>
#include <pthread.h>

enum { THREADS = 8, KEPT = 200 };

static struct workload workload;

struct worker {
	pthread_t thread;
	unsigned random;
	size_t sum;
};

static X509_NAME *build(unsigned *random)
{
	static const char *const fields[] = {"C", "O", "OU", "L", "CN"};
	X509_NAME *name = X509_NAME_new();

	workload_check(name, "X509_NAME_new");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		char value[32];

		if (i == 0)
			strcpy(value, "DE");
		else
			snprintf(value, sizeof(value), "value %u",
			         workload_random(random) % 100000);
		workload_check(X509_NAME_add_entry_by_txt(name, fields[i], MBSTRING_ASC,
		                                          (const unsigned char *)value, -1, -1,
		                                          0) == 1,
		               "X509_NAME_add_entry_by_txt");
	}
	return name;
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (unsigned i = workload.keep ? KEPT : workload_part(&workload, 8000); i > 0; i--) {
		X509_NAME *name = build(&worker->random), *decoded;
		unsigned char *encoded = NULL;
		const unsigned char *from;
		int size = i2d_X509_NAME(name, &encoded);
		char *line = X509_NAME_oneline(name, NULL, 0);

		workload_check(size > 0 && line, "i2d_X509_NAME");
		from = encoded;
		decoded = d2i_X509_NAME(NULL, &from, size);
		workload_check(decoded && X509_NAME_cmp(name, decoded) == 0, "d2i_X509_NAME");
		worker->sum += (size_t)size + strlen(line);
		if (workload.keep)
			continue;
		OPENSSL_free(line);
		OPENSSL_free(encoded);
		X509_NAME_free(decoded);
		X509_NAME_free(name);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker worker[THREADS];
	size_t sum = 0;

	workload = workload_of(argc, argv);
	for (unsigned i = 0; i < THREADS; i++) {
		worker[i] = (struct worker){.random = i + 1};
		workload_check(pthread_create(&worker[i].thread, NULL, work, &worker[i]) == 0,
		               "pthread_create");
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(worker[i].thread, NULL);
		sum += worker[i].sum;
	}
	printf("%zu\n", sum);
	return 0;
}
