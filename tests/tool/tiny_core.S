/* tiny_core.S - a core file of 64 bits for the fuzzer of core files, with two live blocks in front
 * of it (tests/tool/fuzz_image.c).  The second block is reached through the first. */
	.byte 2
	.quad 0x10100
	.byte 16, 1
	.quad 0x10180
	.byte 16, 2
core:
	.byte 0x7f
	.ascii "ELF"
	.byte 2, 1, 1, 0
	.quad 0
	.short 4, 62 /* ET_CORE, EM_X86_64 */
	.long 1
	.quad 0, headers - core, 0
	.long 0
	.short 64, 56, 2, 0, 0, 0
headers:
	.long 4, 0 /* PT_NOTE */
	.quad notes - core, 0, 0, notes_end - notes, 0, 4
	.long 1, 6 /* PT_LOAD */
	.quad memory - core, 0x10000, 0, memory_end - memory, memory_end - memory, 4096
notes:
	.long 5, 336, 1 /* NT_PRSTATUS */
	.asciz "CORE"
	.zero 3
	.zero 32
	.long 7
	.zero 76
	.zero 19 * 8
	.quad 0x10040, 0, 0x10080 /* rsp, ss, fs_base */
	.zero 6 * 8
	.long 5, 32, 6 /* NT_AUXV */
	.asciz "CORE"
	.zero 3
	.quad 3, 0x10000, 25, 0x10048 /* AT_PHDR, AT_RANDOM */
notes_end:
memory:
	.zero 0x50
	.quad 0x10100
	.zero 0xa8
	.quad 0x10180, 0
	.zero 0x70
	.quad 0, 0
memory_end:
