/* messages.h - messages to the user, and the status with which the tool ends. */
#ifndef TOOLS_BASE_MESSAGES_H
#define TOOLS_BASE_MESSAGES_H

#include <stdio.h>

enum status {
	STATUS_FINE = 0,
	STATUS_LEAKS = 1, /* leaks, limits exceeded, audit findings, where asked */
	STATUS_USAGE = 2, /* usage or unreadable input */
};

/* Writes one line "leakwrap: …" to standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes such a line and ends the tool with STATUS_USAGE. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Sends the messages of complain of this thread to STREAM, without "leakwrap: ", or to standard
 * error again if STREAM is NULL. */
void send_complaints(FILE *stream);

/* Shows progress on standard error, if that is a terminal.  The next message or progress_done wipes
 * it. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_done(void);

#endif
