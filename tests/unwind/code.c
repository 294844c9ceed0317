/* code.c - compares the frames that an ELF file's instructions describe with its unwind tables.
 *
 * code FILE <CALLS: puts FILE's segments into memory. Each line of CALLS has a return address in
 * hexadecimal, and behind it "thumb" or another word. Prints counts: how many frames were read from
 * the way they are taken down (epilogue), how many from the way they are built (prologue), and how
 * often both are known and agree. */
#include "wrap/unwind/eh_frame.h"
#include "wrap/unwind/arm_exidx.h"
#include "image.h"
#include "wrap/unwind/epilogue.h"
#include "wrap/unwind/prologue.h"

#include <stdio.h>

static struct image image;
static uintptr_t text_low, text_high;
static struct leakwrap_cfi cfi;
static struct leakwrap_exidx exidx;

static void load(const char *path)
{
	image = load_image(path);
	for (unsigned i = 0; i < image.segment_count; i++) {
		const ElfW(Phdr) *segment = &image.segment[i];
		const uint8_t *at = image.start + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X)) {
			text_low = (uintptr_t)at;
			text_high = text_low + segment->p_memsz;
		} else if (segment->p_type == PT_GNU_EH_FRAME) {
			cfi = (struct leakwrap_cfi){at, segment->p_memsz, image.start, image.end};
#ifdef PT_ARM_EXIDX
		} else if (segment->p_type == PT_ARM_EXIDX) {
			exidx = (struct leakwrap_exidx){at, segment->p_memsz, image.start,
			                                image.end};
#endif
		}
	}
}

/* A frame. Offsets count from the base, or from the CFA if the base differs. */
struct frame {
	int base;
	int32_t cfa, ra, fp, r7;
};

#define IN_REGISTER INT32_MIN

static int32_t from_base(const struct leakwrap_rule *rule, uint8_t place, int32_t offset)
{
	return place == LEAKWRAP_SAVED_IN_REGISTER ? IN_REGISTER
	       : place == LEAKWRAP_SAVED_AT_CFA    ? rule->cfa_offset + offset
	                                           : offset;
}

static struct frame frame_of(const struct leakwrap_rule *rule)
{
	struct frame frame = {.base = rule->base, .cfa = rule->cfa_offset, .r7 = IN_REGISTER};

	frame.ra = from_base(rule, rule->ra_where, rule->ra_offset);
	frame.fp = from_base(rule, rule->fp_where, rule->fp_offset);
#if LEAKWRAP_HAVE_ARM_FRAMES
	frame.r7 = from_base(rule, (uint8_t)rule->r7_where, rule->r7_offset);
#endif
	return frame;
}

static bool by_tables(uintptr_t pc, struct frame *frame)
{
#if LEAKWRAP_HAVE_ARM_FRAMES
	static const int bases[] = {LEAKWRAP_BASE_SP, LEAKWRAP_BASE_R7, LEAKWRAP_BASE_FP};
	struct leakwrap_exidx_frame found;

	if (!leakwrap_exidx_find(&exidx, pc - 1, &found) || found.sp_loaded ||
	    found.pc == LEAKWRAP_EXIDX_SAME)
		return false;
	frame->base = bases[found.base];
	frame->cfa = found.sp;
	frame->ra = found.pc;
	frame->fp = found.r11 == LEAKWRAP_EXIDX_SAME ? IN_REGISTER : found.r11;
	frame->r7 = found.r7 == LEAKWRAP_EXIDX_SAME ? IN_REGISTER : found.r7;
	return true;
#else
	struct leakwrap_rule rule;

	if (!leakwrap_find_eh_frame_rule(&cfi, pc, false, &rule) ||
	    rule.kind != LEAKWRAP_RULE_FRAME || rule.ra_where != LEAKWRAP_SAVED_AT_CFA)
		return false;
	*frame = frame_of(&rule);
	return true;
#endif
}

static int32_t below_cfa(const struct frame *frame, int32_t place)
{
	return place == IN_REGISTER ? place : frame->cfa - place;
}

static bool same(const struct frame *a, const struct frame *b)
{
	return (a->base != b->base || a->cfa == b->cfa) &&
	       below_cfa(a, a->ra) == below_cfa(b, b->ra) &&
	       below_cfa(a, a->fp) == below_cfa(b, b->fp) &&
	       below_cfa(a, a->r7) == below_cfa(b, b->r7);
}

int main(int argc, char **argv)
{
	unsigned long calls = 0, right[2] = {0, 0}, wrong[2] = {0, 0}, agree = 0, agree_wrong = 0,
	              unseen = 0;
	unsigned long address;
	char kind[8];

	if (argc != 2)
		return 2;
	load(argv[1]);
	while (scanf("%lx %7s", &address, kind) == 2) {
		struct leakwrap_code code = {text_low, text_high, strcmp(kind, "thumb") == 0};
		uintptr_t pc = (uintptr_t)image.start + address, target;
		struct leakwrap_rule rule[2];
		struct frame frame[2], wanted;
		bool is_found[2];

		unseen += leakwrap_call_before(&code, pc, &target) == 0;
		if (!by_tables(pc, &wanted))
			continue;
		calls++;
		is_found[0] = leakwrap_find_epilogue_rule(&code, pc, false, &rule[0]);
		is_found[1] = leakwrap_find_near_prologue_rule(&code, pc, false, &rule[1]);
		for (int i = 0; i < 2; i++) {
			if (!is_found[i])
				continue;
			frame[i] = frame_of(&rule[i]);
			right[i] += same(&frame[i], &wanted);
			wrong[i] += !same(&frame[i], &wanted);
		}
		if (is_found[0] && is_found[1] && same(&frame[0], &frame[1])) {
			agree++;
			agree_wrong += !same(&frame[0], &wanted);
		}
	}
	printf("%lu calls, %lu not seen, epilogue %lu right %lu wrong, prologue %lu right %lu "
	       "wrong, "
	       "both %lu right %lu wrong\n",
	       calls, unseen, right[0], wrong[0], right[1], wrong[1], agree - agree_wrong,
	       agree_wrong);
	return 0;
}
