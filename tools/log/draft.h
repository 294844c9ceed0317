/* draft.h - a dump whose lines are being read (draft_lines.h).
 *
 * What does not fit is noted once, with its line, and skipped.  All else of the dump is kept.
 */
#ifndef TOOLS_LOG_DRAFT_H
#define TOOLS_LOG_DRAFT_H

#include "tools/base/memory.h"
#include "tools/log/parsed_dump.h"
#include "tools/log/scan.h"

struct draft {
	/* Set by the caller: */
	const char *log;    /* the name of the log */
	unsigned long line; /* the number of the current line of the log */

	/* For the caller to read: */
	struct parsed_dump dump; /* what the lines said so far */
	bool has_head;           /* its first line has come */

	/* For the files that read lines: */
	struct arena arena; /* the dump's text */
	size_t site_room, frame_room, module_room, note_room, bypass_room, register_room,
	        command_room;
	unsigned long lines;              /* how many the dump had so far */
	uint64_t site_bytes, site_blocks; /* of all call sites so far, at most INT64_MAX */
	bool is_skipped;                  /* the version of its format is not known */
	bool in_crash;                    /* registers and frames belong to the crash */
	bool is_stack_broken; /* a frame of the current stack is missing: it ends there */
	bool is_site_open;    /* more frames of the last call site may follow */
	size_t failure_room, own_room, root_room, stack_room, block_room;
	/* Frames belong to this stack of the misuse or of a failure.  NULL: to a call site. */
	struct parsed_frames *in_frames;
};

/* Empties DRAFT, which is all 0 the first time, for dump SEQUENCE of process PID. */
void draft_start(struct draft *draft, unsigned long pid, unsigned long sequence);

/* Frees what DRAFT points to. */
void draft_free(struct draft *draft);

/* Notes that the dump is not whole.  WHAT is a constant; only the first note counts. */
void draft_note_damage(struct draft *draft, const char *what);

#endif
