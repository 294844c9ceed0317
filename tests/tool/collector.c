/* collector.c - a server that keeps what it is sent, for the test of push.
 *
 * It prints its port.  Request N goes to files of the folder ARGV[1]: N.request has the method, the
 * path and the parameters, N.headers the headers, N.body the body, and N.part.NAME the parts of a
 * form.  The file "status" has the status of the answers.  Redirections are to http://elsewhere/.
 */
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	int number;
	struct MHD_PostProcessor *form;
};

static const char *folder;

static FILE *open_file(int number, const char *kind, const char *mode)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%d.%s", folder, number, kind);
	FILE *file = fopen(path, mode);
	if (!file)
		abort();
	return file;
}

static enum MHD_Result write_pair(void *file, enum MHD_ValueKind kind, const char *key,
                                  const char *value)
{
	(void)kind;
	fprintf(file, "%s=%s\n", key, value ? value : "");
	return MHD_YES;
}

static enum MHD_Result write_part(void *context, enum MHD_ValueKind kind, const char *key,
                                  const char *filename, const char *type, const char *encoding,
                                  const char *data, uint64_t offset, size_t size)
{
	char name[300];
	struct request *request = context;
	(void)kind, (void)filename, (void)type, (void)encoding;
	snprintf(name, sizeof(name), "part.%.200s", key);
	FILE *file = open_file(request->number, name, offset ? "a" : "w");
	fwrite(data, 1, size, file);
	fclose(file);
	return MHD_YES;
}

static struct request *start_request(struct MHD_Connection *connection, const char *method,
                                     const char *url)
{
	static int requests;
	struct request *request = calloc(1, sizeof(*request));
	if (!request)
		abort();
	request->number = ++requests;
	FILE *file = open_file(request->number, "request", "w");
	fprintf(file, "%s %s\n", method, url);
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, write_pair, file);
	fclose(file);
	file = open_file(request->number, "headers", "w");
	MHD_get_connection_values(connection, MHD_HEADER_KIND, write_pair, file);
	fclose(file);
	request->form = MHD_create_post_processor(connection, 65536, write_part, request);
	return request;
}

static enum MHD_Result answer(void *unused, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **state)
{
	char path[4096];
	unsigned status = 200;
	struct request *request = *state;
	(void)unused, (void)version;
	if (!request) {
		*state = start_request(connection, method, url);
		return MHD_YES;
	}
	if (*size) {
		FILE *file = open_file(request->number, "body", "a");
		fwrite(data, 1, *size, file);
		fclose(file);
		if (request->form)
			MHD_post_process(request->form, data, *size);
		*size = 0;
		return MHD_YES;
	}
	if (request->form)
		MHD_destroy_post_processor(request->form);
	free(request);
	snprintf(path, sizeof(path), "%s/status", folder);
	FILE *file = fopen(path, "r");
	if (file && fscanf(file, "%u", &status) != 1)
		status = 200;
	if (file)
		fclose(file);
	struct MHD_Response *response =
	        MHD_create_response_from_buffer(2, (void *)"ok", MHD_RESPMEM_PERSISTENT);
	if (status >= 301 && status <= 308)
		MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, "http://elsewhere/");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	folder = argv[1];
	struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD,
	                                             argc > 2 ? (unsigned short)atoi(argv[2]) : 0,
	                                             NULL, NULL, answer, NULL, MHD_OPTION_END);
	if (!daemon)
		return 1;
	printf("%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	for (;;)
		pause();
}
