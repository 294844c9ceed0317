/* cfi.c - interprets call frame information, of frames of every kind and of damaged tables.
 *
 * cfi rules: nobody calls the functions below. Their tables must give the rules in the list.
 * cfi damaged COUNT: copies the tables, COUNT times, in front of a page that cannot be read. It
 * damages the copy and looks every function up. It must not crash. */
#include "tests/random.h"
#include "wrap/unwind/dwarf_expr.h"
#include "wrap/unwind/eh_frame.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* -- frames ------------------------------------------------------------------------------------ */

/* Each label NAME lies behind the address "NAME - 1", to which its rule belongs. */
__asm__(".text\n"
        ".globl plain_0, plain_1, plain_2, plain_3, plain_4\n"
        "plain: .cfi_startproc\n"
        "nop\nplain_0:\n"
        "push %rbx\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset rbx, 0\n"
        "push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset rbp, 0\n"
        "nop\nplain_1:\n"
        ".cfi_remember_state\n"
        "pop %rbp\n .cfi_adjust_cfa_offset -8\n .cfi_restore rbp\n"
        "nop\nplain_2:\n"
        ".cfi_restore_state\n"
        "sub $0x100000, %rsp\n .cfi_def_cfa_offset 0x100018\n"
        "nop\nplain_3:\n"
        ".skip 300, 0x90\n"
        ".cfi_same_value rbp\n"
        "nop\nplain_4:\n"
        ".skip 70000, 0x90\n"
        ".cfi_endproc\n"

        /* It has no table, and lies directly behind a function that has. */
        ".globl bare_0\n"
        "bare: nop\nbare_0:\n"

        ".globl framed_0, framed_1, framed_2\n"
        "framed: .cfi_startproc\n"
        "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset rbp, -16\n"
        "mov %rsp, %rbp\n .cfi_def_cfa_register rbp\n"
        "nop\nframed_0:\n"
        ".cfi_escape 0x2e, 0x20\n" /* DW_CFA_GNU_args_size */
        "nop\nframed_1:\n"
        "pop %rbp\n .cfi_def_cfa rsp, 8\n .cfi_restore rbp\n"
        "nop\nframed_2:\n"
        ".cfi_endproc\n"

        /* gcc realigns the stack so: the CFA is kept at rbp - 8, rbp at rbp + 0. */
        ".globl realigned_0\n"
        "realigned: .cfi_startproc\n"
        ".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n" /* def_cfa_expression: breg6 -8, deref */
        ".cfi_escape 0x10, 6, 2, 0x76, 0\n"       /* expression: r6 at breg6 0 */
        "nop\nrealigned_0:\n"
        ".cfi_endproc\n"

        /* libcrypto's assembly keeps its caller's stack pointer so. */
        ".globl kept_0\n"
        "kept: .cfi_startproc\n"
        ".cfi_escape 0x0f, 6, 0x77, 0x98, 0x01, 0x06, 0x23, 0x08\n" /* breg7 152, deref, plus 8 */
        ".cfi_offset rbp, -24\n"
        "nop\nkept_0:\n"
        ".cfi_endproc\n"

        /* The linker describes its procedure linkage table so: rsp + 8 + ((rip & 15) >= 11) * 8. */
        ".p2align 4\n"
        ".globl linkage_0, linkage_1\n"
        "linkage: .cfi_startproc\n"
        ".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
        "nop\nlinkage_0:\n"
        ".skip 11, 0x90\nlinkage_1:\n"
        ".cfi_endproc\n"

        ".globl first_0\n"
        "first: .cfi_startproc\n .cfi_undefined rip\n"
        "nop\nfirst_0:\n"
        ".cfi_endproc\n"

        ".globl signal_0\n"
        "signal: .cfi_startproc\n .cfi_signal_frame\n"
        ".cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06\n" /* breg7 160, deref */
        ".cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01\n"   /* rip at breg7 168 */
        ".cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00\n"    /* rbp at breg7 120 */
        "nop\nsignal_0:\n"
        ".cfi_endproc\n"

        /* OCaml 5 marks functions so that change the stack. */
        ".globl switch_0\n"
        "switch: .cfi_startproc\n .cfi_signal_frame\n"
        ".cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 0x50\n" /* breg7 16, deref, plus 80 */
        ".cfi_offset rbp, -24\n"
        "nop\nswitch_0:\n"
        ".cfi_endproc\n"

        /* DW_CFA_remember_state, as often as there is room for and once more. */
        ".globl deep_0, deep_1\n"
        "deep: .cfi_startproc\n"
        ".cfi_escape 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a\n"
        "nop\ndeep_0:\n"
        ".cfi_escape 0x0a\n"
        "nop\ndeep_1:\n"
        ".cfi_endproc\n"

        /* No rule can represent these. */
        ".globl other_0, other_1, other_2, other_3\n"
        "other: .cfi_startproc\n"
        ".cfi_def_cfa r10, 8\n"
        "nop\nother_0:\n"
        ".cfi_def_cfa rsp, 8\n .cfi_register rip, rcx\n"
        "nop\nother_1:\n"
        ".cfi_offset rip, -8\n .cfi_register rbp, r11\n"
        "nop\nother_2:\n"
        ".cfi_escape 0x0f, 2, 0x06, 0x06\n" /* an expression that pops from an empty stack */
        "nop\nother_3:\n"
        ".cfi_endproc\n");

#pragma GCC visibility push(hidden)
extern const char plain_0[];
extern const char plain_1[];
extern const char plain_2[];
extern const char plain_3[];
extern const char plain_4[];
extern const char bare_0[];
extern const char framed_0[];
extern const char framed_1[];
extern const char framed_2[];
extern const char realigned_0[];
extern const char kept_0[];
extern const char linkage_0[];
extern const char linkage_1[];
extern const char first_0[];
extern const char signal_0[];
extern const char switch_0[];
extern const char deep_0[];
extern const char deep_1[];
extern const char other_0[];
extern const char other_1[];
extern const char other_2[];
extern const char other_3[];
#pragma GCC visibility pop

#define SP       LEAKWRAP_BASE_SP
#define FP       LEAKWRAP_BASE_FP
#define SAME     LEAKWRAP_SAVED_IN_REGISTER
#define BY_CFA   LEAKWRAP_SAVED_AT_CFA
#define BY_BASE  LEAKWRAP_SAVED_AT_BASE
#define NOWHERE  LEAKWRAP_SAVED_NOWHERE
#define FRAME    LEAKWRAP_RULE_FRAME
#define INDIRECT LEAKWRAP_RULE_INDIRECT
#define SIGNAL   LEAKWRAP_RULE_SIGNAL
#define SWITCH   LEAKWRAP_RULE_SWITCH
#define END      LEAKWRAP_RULE_END
#define NONE     LEAKWRAP_RULE_NONE

static const struct point {
	const char *name, *pc;
	struct leakwrap_rule rule;
} points[] = {
        /* kind, base, place of ra, of fp, cfa, add, ra, fp */
        {"nothing pushed", plain_0, {FRAME, SP, BY_CFA, SAME, 8, 0, -8, 0}},
        {"rbp pushed", plain_1, {FRAME, SP, BY_CFA, BY_CFA, 24, 0, -8, -24}},
        {"rbp popped", plain_2, {FRAME, SP, BY_CFA, SAME, 16, 0, -8, 0}},
        {"state restored, large frame", plain_3, {FRAME, SP, BY_CFA, BY_CFA, 0x100018, 0, -8, -24}},
        {"same value", plain_4, {FRAME, SP, BY_CFA, SAME, 0x100018, 0, -8, 0}},
        {"code without a table", bare_0, {NONE, 0, 0, 0, 0, 0, 0, 0}},
        {"frame pointer", framed_0, {FRAME, FP, BY_CFA, BY_CFA, 16, 0, -8, -16}},
        {"size of arguments", framed_1, {FRAME, FP, BY_CFA, BY_CFA, 16, 0, -8, -16}},
        {"epilogue", framed_2, {FRAME, SP, BY_CFA, SAME, 8, 0, -8, 0}},
        {"realigned", realigned_0, {INDIRECT, FP, BY_CFA, BY_BASE, -8, 0, -8, 0}},
        {"kept stack pointer", kept_0, {INDIRECT, SP, BY_CFA, BY_CFA, 152, 8, -8, -24}},
        {"linkage table, first half", linkage_0, {FRAME, SP, BY_CFA, SAME, 8, 0, -8, 0}},
        {"linkage table, second half", linkage_1, {FRAME, SP, BY_CFA, SAME, 16, 0, -8, 0}},
        {"first frame", first_0, {END, 0, 0, 0, 0, 0, 0, 0}},
        {"signal frame", signal_0, {SIGNAL, SP, BY_BASE, BY_BASE, 160, 0, 168, 120}},
        {"another stack", switch_0, {SWITCH, SP, BY_CFA, BY_CFA, 16, 80, -8, -24}},
        {"states put aside", deep_0, {FRAME, SP, BY_CFA, SAME, 8, 0, -8, 0}},
        {"too many states", deep_1, {NONE, 0, 0, 0, 0, 0, 0, 0}},
        {"another register", other_0, {NONE, 0, 0, 0, 0, 0, 0, 0}},
        {"return address in a register", other_1, {NONE, 0, 0, 0, 0, 0, 0, 0}},
        {"frame pointer in a register", other_2, {FRAME, SP, BY_CFA, NOWHERE, 8, 0, -8, 0}},
        {"bad expression", other_3, {NONE, 0, 0, 0, 0, 0, 0, 0}},
};

#define POINTS (sizeof(points) / sizeof(points[0]))

/* -- the tables -------------------------------------------------------------------------------- */

static int find_tables(struct dl_phdr_info *info, size_t size, void *context)
{
	struct leakwrap_cfi *tables = context;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
			tables->header =
			        (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			tables->header_size = info->dlpi_phdr[i].p_memsz;
		}
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const uint8_t *start =
		        (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && tables->header >= start &&
		    tables->header < start + info->dlpi_phdr[i].p_filesz) {
			tables->low = start;
			tables->high = start + info->dlpi_phdr[i].p_filesz;
		}
	}
	return 1; /* look at the program alone */
}

/* Expressions that no assembler writes. */
static int test_expressions(void)
{
	/* consts with the lowest number, in ten bytes */
	static const uint8_t lowest[] = {11,   0x11, 0x80, 0x80, 0x80, 0x80,
	                                 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f};
	/* breg7 8, of four bytes where three bytes are readable */
	static const uint8_t cut[] = {4, 0x77, 8, 0x96, 0x96};
	struct leakwrap_expression_context context = {.high = lowest + sizeof(lowest)};
	struct leakwrap_value value;
	int failed = 0;

	if (!leakwrap_evaluate(&context, lowest, &value) || value.kind != LEAKWRAP_VALUE_NUMBER ||
	    value.number != INT64_MIN)
		failed = printf("the lowest number is %lld\n", (long long)value.number);
	context.high = cut + sizeof(cut);
	if (!leakwrap_evaluate(&context, cut, &value) || value.number != 8)
		failed = printf("no value of a whole expression\n");
	context.high--;
	if (leakwrap_evaluate(&context, cut, &value))
		failed = printf("a value of an expression that is cut short\n");
	return failed;
}

static int test_rules(const struct leakwrap_cfi *tables)
{
	int failed = 0;

	for (size_t i = 0; i < POINTS; i++) {
		const struct leakwrap_rule *wanted = &points[i].rule;
		struct leakwrap_rule got;
		/* The linkage table's rule depends on the exact address. */
		bool interrupted = strstr(points[i].name, "linkage") != NULL;
		uintptr_t pc = (uintptr_t)points[i].pc - interrupted;

		if (!leakwrap_find_eh_frame_rule(tables, pc, interrupted, &got)) {
			if (wanted->kind != NONE)
				failed = printf("%s: no rule\n", points[i].name);
		} else if (memcmp(&got, wanted, sizeof(got)) != 0) {
			failed = printf("%s: kind %d base %d ra %d %d fp %d %d cfa %d + %d\n",
			                points[i].name, got.kind, got.base, got.ra_where,
			                got.ra_offset, got.fp_where, got.fp_offset, got.cfa_offset,
			                got.add);
		}
	}
	/* These addresses lie outside all functions, and outside the tables' reach. */
	for (uintptr_t pc = 0; pc < 64; pc += 8) {
		struct leakwrap_rule got;

		if (leakwrap_find_eh_frame_rule(tables, pc << 57 | pc, false, &got))
			failed = printf("a rule for %#lx\n", (unsigned long)(pc << 57 | pc));
	}
	return failed;
}

/* -- damage ------------------------------------------------------------------------------------ */

static uint32_t random_number(void)
{
	static uint64_t state;

	return (uint32_t)draw_random(&state);
}

static void damage(uint8_t *bytes, size_t size)
{
	static const uint8_t nasty[] = {0x00, 0x7f, 0x80, 0xff, 0x0f, 0x10, 0x16, 0x0a, 0x0b};
	unsigned count = 1 + random_number() % 8;

	while (count--) {
		uint8_t *at = bytes + random_number() % size;

		switch (random_number() % 4) {
		case 0:
			*at = (uint8_t)random_number();
			break;
		case 1:
			*at ^= (uint8_t)(1u << random_number() % 8);
			break;
		case 2:
			*at = nasty[random_number() % sizeof(nasty)];
			break;
		default: /* a word of ones, for lengths and offsets */
			for (unsigned i = 0; i < 4 && at + i < bytes + size; i++)
				at[i] = 0xff;
		}
	}
}

static int test_damaged(const struct leakwrap_cfi *tables, unsigned long count)
{
	size_t size = (size_t)(tables->high - tables->header);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t mapped = (size + page - 1) / page * page;
	uint8_t *pages = mmap(NULL, mapped + page, PROT_READ | PROT_WRITE,
	                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long found = 0;

	if (pages == MAP_FAILED || mprotect(pages + mapped, page, PROT_NONE) != 0)
		return 1;
	while (count--) {
		size_t kept = random_number() % 4 ? size : random_number() % size + 1;
		uint8_t *copy = pages + mapped - kept;
		struct leakwrap_cfi damaged = {copy, tables->header_size, copy, pages + mapped};

		memcpy(copy, tables->header, kept);
		/* The functions' entries come first, so most of the damage goes there. */
		damage(copy, random_number() % 2 || kept < 2048 ? kept : 2048);
		for (size_t i = 0; i < POINTS; i++) {
			uintptr_t pc = (uintptr_t)points[i].pc +
			               ((uintptr_t)copy - (uintptr_t)tables->header);
			struct leakwrap_rule rule;

			found += leakwrap_find_eh_frame_rule(&damaged, pc, random_number() % 2,
			                                     &rule);
		}
	}
	printf("%lu rules from damaged tables\n", found);
	return found == 0;
}

int main(int argc, char **argv)
{
	struct leakwrap_cfi tables = {0};

	dl_iterate_phdr(find_tables, &tables);
	if (!tables.low)
		return 2;
	if (argc == 3 && strcmp(argv[1], "damaged") == 0)
		return test_damaged(&tables, strtoul(argv[2], NULL, 10));
	return test_expressions() + test_rules(&tables) != 0;
}
