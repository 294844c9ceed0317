/* parse.h - from the lines of a log to dumps.
 *
 * The lines of other programs may stand between those of a dump, and the words of a system log
 * before them.  Dumps of several processes may be mixed, and ends may be missing.  The parser keeps
 * only dumps that have not ended.
 */
#ifndef TOOLS_LOG_PARSE_H
#define TOOLS_LOG_PARSE_H

#include "tools/log/parsed_dump.h"

/* Returns a parser that gives each dump of LOG to TAKE, with CONTEXT, when the dump has ended or
 * its end cannot come any more.  LOG is the name for messages, and must outlive the parser. */
struct parser *parser_start(const char *log, dump_taker *take, void *context);

/* Reads the LENGTH bytes at LINE: one line, without its end.  WHOLE: the end was there. */
void parser_line(struct parser *parser, const char *line, size_t length, bool whole);

/* Gives the dumps that have no end to TAKE, and frees PARSER. */
void parser_end(struct parser *parser);

#endif
