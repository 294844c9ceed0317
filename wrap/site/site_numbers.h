/* site_numbers.h - which numbers of call sites are in use, and which blocks are live at them. */
#ifndef LEAKWRAP_SITE_NUMBERS_H
#define LEAKWRAP_SITE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/site/site_table.h"

/* Returns how many numbers can still be used.  Signal-safe. */
uint32_t leakwrap_site_numbers_left(void);

/* For the functions below, the caller holds the tables' lock. */

/* Returns the number for the next call site, or LEAKWRAP_SITE_NONE if none is left. */
uint32_t leakwrap_site_number_next(void);

/* Uses NUMBER, which leakwrap_site_number_next returned. */
void leakwrap_site_number_use(uint32_t number);

/* Frees NUMBER, which is in use. */
void leakwrap_site_number_free(uint32_t number);

/* Forgets the free numbers: they are not used any more. */
void leakwrap_site_numbers_forget_free(void);

/* -- marks: for site_collect.c ----------------------------------------------------------------- */

/* Begins to mark: no number is marked, and numbers that are used from now on are.  Returns false if
 * there is no memory. */
bool leakwrap_site_marks_begin(void);

/* Ends to mark.  The marks remain. */
void leakwrap_site_marks_end(void);

/* Marks NUMBER, or returns whether it is marked.  NUMBER is below the limit.  Neither needs the
 * tables' lock. */
void leakwrap_site_mark(uint32_t number);
bool leakwrap_site_is_marked(uint32_t number);

/* The numbers that a collection has unlinked and not yet freed. */
void leakwrap_site_set_unlinked(uint32_t number, bool is_unlinked);
bool leakwrap_site_is_unlinked(uint32_t number);

#endif
