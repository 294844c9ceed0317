/* request.c - see request.h. */
#include "tools/live/request.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/messages.h"

void request_begin(struct request *request, pid_t pid, double now)
{
	request->errors = open_bytes(&request->error, &request->error_size);
	send_complaints(request->errors);
	request->process.pid = pid;
	request->began = now;
	request->waits = examine_process(&request->arena, &request->process, NULL);
	send_complaints(NULL);
}

/* Sends the dump signal.  KINDS: for a dump with kinds.  Returns false after a message if that is
 * not possible. */
static bool send_request(struct request *request, bool kinds)
{
	request->log = dump_log_find(&request->arena, &request->process);
	request->sent = true;
	if (request->log.reader == READ_BY_OTHERS) {
		complain("process %d writes its dumps to %s, %s: LEAKWRAP_OPTIONS=log=FILE gives "
		         "it a file",
		         request->process.pid, request->log.name, request->log.what);
		return false;
	}
	return dump_log_is_read(&request->log, &request->process) &&
	       ask_for_dump(&request->process, kinds);
}

void request_go_on(struct request *request, bool kinds, double now, double timeout)
{
	const pid_t pid = request->process.pid;
	bool runs = kill(pid, 0) == 0;
	int turn;

	send_complaints(request->errors);
	if (request->sent)
		request->raw =
		        dump_log_read(&request->process, &request->log, kinds, &request->raw_size);
	if (request->raw) {
		request->waits = false;
	} else if (!runs) {
		complain("process %d ended before its dump was whole", pid);
		request->waits = false;
	} else if (!request->sent && process_take_turn(&request->process, &turn)) {
		request->waits = send_request(request, kinds);
		process_end_turn(turn);
	} else if (now - request->began > timeout) {
		if (request->sent)
			complain("no whole dump of process %d came in time", pid);
		else
			complain_of_no_turn(&request->process, timeout);
		request->is_late = true;
		request->waits = false;
	}
	send_complaints(NULL);
}

char *request_take_error(struct request *request)
{
	char *error;

	fclose(request->errors);
	error = request->error;
	error[strcspn(error, "\n")] = '\0'; /* one line says it */
	if (*error)
		return error;
	free(error);
	return NULL;
}

void request_free(struct request *request)
{
	dump_log_free(&request->log);
	arena_free(&request->arena);
}
