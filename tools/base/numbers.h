/* numbers.h - numbers, sizes and times: sums, and from and to text. */
#ifndef TOOLS_BASE_NUMBERS_H
#define TOOLS_BASE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds MORE to *SUM, which stays at INT64_MAX where the sum would be larger. */
void add_up(uint64_t *sum, uint64_t more);

/* Returns NUMBER as a size, or SIZE_MAX where a size cannot hold it: numbers of files and of other
 * processes have 64 bits, also where the tool has 32. */
size_t to_size(uint64_t number);

/* Returns "1,203,344" in one of several static buffers, which is valid for a few calls. */
const char *with_commas(uint64_t number);

/* Returns "1.15 MiB" in such a buffer. */
const char *with_unit(uint64_t bytes);

/* Returns "3.21 ms", a time of NS nanoseconds, in such a buffer. */
const char *with_unit_of_time(uint64_t ns);

/* Parses a decimal or 0x number.  Returns false if TEXT is anything else or too large. */
bool parse_number(const char *text, uint64_t *number);

/* Parses such a number, which may end in K, M, G or T (powers of 1024). */
bool parse_size(const char *text, uint64_t *bytes);

/* Sets *SECONDS since 1970 for "2026-11-20T18:36:07Z".  Returns false if TEXT has another form. */
bool parse_time(const char *text, int64_t *seconds);

#endif
