/* other_core.S - a core file of process PID on MACHINE, with one thread.  It says that all memory
 * below 2^48 was mapped, or below 2^32 with addresses of 32 bits (NARROW), and holds none of it. */
#ifdef NARROW
#define WORD .long
#define CLASS 1
#define WORDS 4
#define BEFORE_PID 24
#define BEFORE_REGISTERS (72 - 28)
#define MEMORY 0xfffff000
#else
#define WORD .quad
#define CLASS 2
#define WORDS 8
#define BEFORE_PID 32
#define BEFORE_REGISTERS (112 - 36)
#define MEMORY 0xfffffffff000
#endif
#define REGISTERS 34

core:
	.byte 0x7f
	.ascii "ELF"
	.byte CLASS, 1, 1, 0
	.quad 0
	.short 4, MACHINE /* ET_CORE */
	.long 1
	WORD 0, headers - core, 0
	.long 0
	.short headers - core, (headers_end - headers) / 2, 2, 0, 0, 0
headers:
	.long 4 /* PT_NOTE */
#ifdef NARROW
	.long notes - core, 0, 0, notes_end - notes, 0, 0, 4
	.long 1, 0, 0, 0, 0, MEMORY, 6, 4096 /* PT_LOAD */
#else
	.long 0
	.quad notes - core, 0, 0, notes_end - notes, 0, 4
	.long 1, 6 /* PT_LOAD */
	.quad 0, 0, 0, 0, MEMORY, 4096
#endif
headers_end:
notes:
	.long 5, status_end - status, 1 /* NT_PRSTATUS */
	.asciz "CORE"
	.zero 3
status:
	.zero BEFORE_PID
	.long PID
	.zero BEFORE_REGISTERS
	.zero REGISTERS * WORDS
status_end:
notes_end:
