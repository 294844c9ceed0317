/* against_readelf.c - prints the rules of an ELF file's tables for return addresses, or for
 * instructions that a signal interrupts, one line each.
 *
 * sweep FILE calls|instructions <ADDRESSES: puts FILE's segments into memory as the loader would,
 * and reads hexadecimal addresses of the file. For each it prints the address, the CFA, fp, ra, and
 * "slot" or "wide", as the rule cache remembers it, in the notation of readelf
 * --debug-dump=frames-interp. */
#include "wrap/unwind/eh_frame.h"
#include "image.h"
#include "wrap/unwind/rule_cache.h"

#include <stdio.h>

#if defined(__x86_64__)
#define SP_NAME "rsp"
#define FP_NAME "rbp"
#elif defined(__i386__)
#define SP_NAME "esp"
#define FP_NAME "ebp"
#elif defined(__aarch64__)
#define SP_NAME "sp"
#define FP_NAME "x29"
#else
#define SP_NAME "sp"
#define FP_NAME "s0"
#endif

static struct leakwrap_cfi tables;
static struct image image;

static void load(const char *path)
{
	image = load_image(path);
	for (unsigned i = 0; i < image.segment_count; i++)
		if (image.segment[i].p_type == PT_GNU_EH_FRAME)
			tables = (struct leakwrap_cfi){image.start + image.segment[i].p_vaddr,
			                               image.segment[i].p_memsz, image.start,
			                               image.end};
	if (!tables.header) {
		fprintf(stderr, "%s has no .eh_frame_hdr\n", path);
		exit(2);
	}
}

static const char *place(uint8_t where, int32_t offset)
{
	static char text[4][32];
	static unsigned next;
	char *out = text[next++ % 4];

	switch (where) {
	case LEAKWRAP_SAVED_IN_REGISTER:
		return "u";
	case LEAKWRAP_SAVED_AT_CFA:
		snprintf(out, sizeof(text[0]), "c%+d", offset);
		return out;
	case LEAKWRAP_SAVED_AT_BASE:
		return "exp";
	default:
		return "elsewhere";
	}
}

int main(int argc, char **argv)
{
	struct leakwrap_rule_cache cache = leakwrap_rule_cache();
	unsigned long address;
	bool interrupted;

	if (argc != 3)
		return 2;
	interrupted = strcmp(argv[2], "instructions") == 0;
	load(argv[1]);
	while (scanf("%lx", &address) == 1) {
		uintptr_t pc = (uintptr_t)image.start + address;
		struct leakwrap_rule rule;
		leakwrap_rule_slot slot;

		printf("%lx ", address);
		if (!leakwrap_find_eh_frame_rule(&tables, pc, interrupted, &rule)) {
			puts("none");
			continue;
		}
		leakwrap_rule_cache_store(cache, pc, &rule);
		slot = atomic_load(&cache.slots[LEAKWRAP_RULE_INDEX(pc) & cache.mask]);
		if (!leakwrap_rule_slot_is_for(slot, pc)) {
			puts("not kept");
			continue;
		}
		rule = leakwrap_rule_slot_rule(slot);
		if (rule.kind == LEAKWRAP_RULE_END)
			printf("end");
		else if (rule.kind == LEAKWRAP_RULE_FRAME)
			printf("%s%+d %s %s", rule.base == LEAKWRAP_BASE_SP ? SP_NAME : FP_NAME,
			       rule.cfa_offset, place(rule.fp_where, rule.fp_offset),
			       place(rule.ra_where, rule.ra_offset));
		else
			printf("exp %s %s", place(rule.fp_where, rule.fp_offset),
			       place(rule.ra_where, rule.ra_offset));
#if LEAKWRAP_HAVE_INLINE_RULES
		puts(slot & LEAKWRAP_RULE_WIDE ? " wide" : " slot");
#else
		puts(" wide");
#endif
	}
	return 0;
}
