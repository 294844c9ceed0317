/* veneers.h - the code that a linker puts between a call and its function.
 *
 * A linker adds such a veneer where a branch does not reach the function, or where it cannot change
 * between Thumb and ARM code, as a jump (B.W) cannot.
 */
#ifndef TOOLS_ELF_VENEERS_H
#define TOOLS_ELF_VENEERS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the size of the veneer that begins at BYTES, of which SIZE may be read, in a program for
 * MACHINE: EM_ARM or EM_AARCH64, others have none.  Returns 0 if no veneer begins there.  ADDRESS:
 * of BYTES.  Sets *TO to where the veneer leads, without the bit that marks Thumb. */
size_t veneer_at(int machine, const unsigned char *bytes, size_t size, uint64_t address,
                 uint64_t *to);

/* Returns the address that ADRP at PC computes. */
uint64_t adrp_page(uint64_t pc, uint32_t adrp);

#endif
