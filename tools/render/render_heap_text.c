/* render_heap_text.c - the text format of heap profiles, by which gperftools and Go agree.
 *
 * A call site is "BLOCKS: BYTES [BLOCKS: BYTES] @ ADDRESS...", innermost return address first.  The
 * numbers in brackets are of all allocations ever made.  If dumps do not say them, the live ones
 * stand there again.  Lines that begin with # have functions and lines for people, and the blocks
 * and bytes of each kind if the dump tells lost from reachable memory.  "heap_v2/1" says that the
 * numbers are no estimates.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/render/render.h"
#include "tools/render/weights.h"

/* Writes which part of WEIGHT is of which kind. */
static void put_kinds(FILE *stream, const struct weight *weight)
{
	const char *separator = "#\tkinds\t";

	for (unsigned kind = 0; kind < REACHES; kind++) {
		const struct kind_part *part = &weight->kinds[kind];
		if (part->bytes == 0 && part->blocks == 0)
			continue;
		fprintf(stream, "%s%s %" PRId64 ": %" PRId64, separator, reach_names[kind],
		        part->blocks, part->bytes);
		separator = ", ";
	}
	if (*separator == ',')
		putc('\n', stream);
}

static void put_frames(FILE *stream, struct arena *scratch, const struct weight *weight)
{
	for (unsigned i = 0; i < weight->stack->depth; i++) {
		const struct location *at = weight->stack->at[i];
		for (unsigned j = 0; j < at->frame_count; j++) {
			fprintf(stream, "#\t0x%" PRIx64 "\t", raw_address(weight->dump, at));
			put_text(stream, frame_name(scratch, at, &at->frames[j]));
			putc('\t', stream);
			put_text(stream, frame_place(scratch, at, &at->frames[j]));
			putc('\n', stream);
		}
	}
	arena_reset(scratch);
}

static void put_numbers(FILE *stream, const struct weight *weight)
{
	fprintf(stream, "%" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @", weight->blocks,
	        weight->bytes, weight->allocated_blocks, weight->allocated_bytes);
}

void render_heap_text(FILE *stream, const struct answer *answer)
{
	struct arena scratch = {0};
	struct weights weights = answer_weights(answer);
	struct weight sum = {0};

	for (size_t i = 0; i < weights.count; i++) {
		struct weight *w = &weights.all[i];
		if (!weights.has_allocated) {
			w->allocated_blocks = w->blocks;
			w->allocated_bytes = w->bytes;
		}
		sum.blocks += w->blocks;
		sum.bytes += w->bytes;
		sum.allocated_blocks += w->allocated_blocks;
		sum.allocated_bytes += w->allocated_bytes;
	}
	fputs("heap profile: ", stream);
	put_numbers(stream, &sum);
	fputs(" heap_v2/1\n", stream);
	for (size_t i = 0; i < weights.count; i++) {
		const struct weight *w = &weights.all[i];
		put_numbers(stream, w);
		for (unsigned j = 0; w->stack && j < w->stack->depth; j++)
			fprintf(stream, " 0x%" PRIx64, raw_address(w->dump, w->stack->at[j]));
		putc('\n', stream);
		put_kinds(stream, w);
		if (w->stack)
			put_frames(stream, &scratch, w);
	}
	fputs("\nMAPPED_LIBRARIES:\n", stream);
	const struct dump *dump = weights.count ? weights.all[0].dump : NULL;
	for (size_t i = 0; dump && i < dump->mapping_count; i++) {
		const struct mapping *mapping = &dump->mappings[i];
		fprintf(stream, "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " 00:00 0 ",
		        mapping->start, mapping->end, mapping->start - mapping->bias);
		put_text(stream, mapping->module->path);
		putc('\n', stream);
	}
	free(weights.all);
	arena_free(&scratch);
}
