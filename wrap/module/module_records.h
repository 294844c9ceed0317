/* module_records.h - the records of modules, which the snapshots of registry.c list.
 *
 * A module has one record as long as a snapshot lists it.  After that the record is unlinked, and
 * rests, since a thread may still read it.  The unlinked record of a freed module keeps its number,
 * which a later module gets.
 *
 * The functions that change records want the tables' lock.
 */
#ifndef LEAKWRAP_MODULE_RECORDS_H
#define LEAKWRAP_MODULE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/module/module.h"

/* Returns true if A, of a record, and B, as listed, are the same file at the same address. */
bool leakwrap_module_is_same(const struct leakwrap_module *a, const struct leakwrap_module *b);

/* Finds or adds the record of LISTED.  IS_DEEPBIND: the calls that are not bound yet will be bound
 * to another function (RTLD_DEEPBIND).  IS_PERMANENT: LISTED is never unloaded.  Returns NULL if
 * there is no memory. */
const struct leakwrap_module *leakwrap_module_find_or_add(const struct leakwrap_module *listed,
                                                          bool is_deepbind, bool is_permanent);

/* Notes that one more snapshot lists MODULE, which has a record. */
void leakwrap_module_add_snapshot(const struct leakwrap_module *module);

/* Notes that one snapshot less lists MODULE.  Unlinks its record if no other snapshot lists it and
 * it is not the program.  The record rests from TICK on. */
void leakwrap_module_remove_snapshot(const struct leakwrap_module *module, unsigned tick);

/* Frees the unlinked records that have rested: HAS_RESTED returns true for the tick at which they
 * were unlinked.  They rest in the order in which they were unlinked. */
void leakwrap_module_records_free(bool (*has_rested)(unsigned tick));

/* Returns the module of the newest record that holds ADDRESS, loaded or not, or NULL.
 * Signal-safe. */
const struct leakwrap_module *leakwrap_module_recorded_at(uintptr_t address);

/* Returns a serial number that no module and no snapshot has had. */
uint64_t leakwrap_modules_next_serial(void);

/* -- by number --------------------------------------------------------------------------------- */

/* Returns the highest module number.  Signal-safe. */
unsigned leakwrap_modules_count(void);

/* Returns the module NUMBER, or NULL if there is none.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_numbered(unsigned number);

/* Returns the program, number 1.  Returns NULL if there was no memory for its record.
 * Signal-safe. */
const struct leakwrap_module *leakwrap_module_of_program(void);

#endif
