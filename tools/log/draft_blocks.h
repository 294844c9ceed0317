/* draft_blocks.h - reads the lines that list live blocks, and the memory around them.
 *
 * A function takes the line behind the word that names it.
 */
#ifndef TOOLS_LOG_DRAFT_BLOCKS_H
#define TOOLS_LOG_DRAFT_BLOCKS_H

#include "tools/log/draft.h"

/* Reads "heap=known allocator=glibc thread_pointer=0x... thread_state=0x...-0x...
 * stack_layout=0x...,0x...,0x... pointer_step=1 roots=listed". */
void draft_read_memory(struct draft *draft, struct cursor c);

/* Read "0x7f20cb400000-0x7f20cb440000". */
void draft_read_own(struct draft *draft, struct cursor c);
void draft_read_root(struct draft *draft, struct cursor c);

/* Reads "0x20001000-0x20001800 sp=0x200016c8". */
void draft_read_stack(struct draft *draft, struct cursor c);

/* Reads "1:0x55d0c9a012a0+40 ignored:0x55d0c9a012d0+16". */
void draft_read_blocks(struct draft *draft, struct cursor c);

#endif
