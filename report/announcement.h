/* announcement.h - how the tool recognizes a traced program, and what a traced process shows of
 * itself in its memory. */
#ifndef LEAKWRAP_ANNOUNCEMENT_H
#define LEAKWRAP_ANNOUNCEMENT_H

#include <stdint.h>

/* The section, the owner and the type of an ELF note.  Every program or library that holds the
 * tracer has the note, stripped or not.  The note's description is 32-bit words.  The first word is
 * LEAKWRAP_FORMAT_VERSION.  The second word is signed: the bytes from that word to the
 * announcement.  Without an operating system there is no announcement, and the second word is 0.
 * With one there is a third word, also signed: the bytes from that word to a pointer, which leads
 * to the tracer's malloc for the calls of shared libraries, or is NULL.  Other tracers in the
 * process read it. */
#define LEAKWRAP_NOTE_SECTION         ".note.leakwrap"
#define LEAKWRAP_NOTE_OWNER           "leakwrap"
#define LEAKWRAP_NOTE_TYPE            1

#define LEAKWRAP_ANNOUNCEMENT_VERSION 1

/* The option that needs every block, so that what is recorded cannot be changed. */
enum leakwrap_needs_all {
	LEAKWRAP_NEEDS_ALL_NOT,
	LEAKWRAP_NEEDS_ALL_MISUSE,
	LEAKWRAP_NEEDS_ALL_FAIL, /* there are no marks, either */
};

/* The announcement of a traced process, in its memory.  The tracer writes it at start, and PROCESS
 * again after a fork.  Later versions only add members, behind LOG. */
struct leakwrap_announcement {
	uint32_t version; /* 0: the tracer has not started, and the other members are not set */
	uint32_t size;    /* bytes of the announcement */
	/* The process id, as the process itself sees it.  A child of vfork runs in its parent's
	 * memory, and shows its parent's announcement. */
	int32_t process;
	int32_t signal; /* the signal that asks for a dump; 0: none does */
	/* "stderr", or a path with %p, %n and %%, as in the option log=.  "": the path is too
	 * long. */
	char log[1280];
	uint32_t record;    /* whether recording is on: 0 or 1 */
	uint32_t sample;    /* the interval of sampling in bytes; 0: none */
	uint32_t marks;     /* how many times leakwrap mark or leakwrap_mark has succeeded */
	uint32_t kinds;     /* the option kinds=, an enum leakwrap_kinds_when */
	uint32_t needs_all; /* an enum leakwrap_needs_all */
};

#endif
