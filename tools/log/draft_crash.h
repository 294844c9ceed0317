/* draft_crash.h - the lines of a dump about a crash or a misuse. */
#ifndef TOOLS_LOG_DRAFT_CRASH_H
#define TOOLS_LOG_DRAFT_CRASH_H

#include "tools/log/draft.h"

/* Reads "signal=11 code=1 fault_address=0x0 thread=4712".  "task=uart_rx" may follow. */
void draft_read_crash(struct draft *draft, struct cursor c);

/* Reads "rip=0x55d0c8a01230 rsp=0x7ffd2f10". */
void draft_read_registers(struct draft *draft, struct cursor c);

/* Reads "double_free pointer=0x55d0c9a012a0 thread=4712 function=free", or "released", or "block
 * address=0x55d0c9a012a0 bytes=40 function=operator new". */
void draft_read_misuse(struct draft *draft, struct cursor c);

#endif
