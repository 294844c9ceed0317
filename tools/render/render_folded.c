/* render_folded.c - flame graph tools' format: a line "outermost;...;innermost BYTES" for each call
 * site.
 *
 * For a comparison of two dumps a line ends with two numbers, before and after, for differential
 * flame graphs.
 */
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/render/render.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/render/weights.h"

/* Writes NAME without semicolons, which separate frames, and without control characters. */
static void put_name(FILE *stream, const char *name)
{
	for (size_t length; *name; name += length) {
		length = character_at(name).length;
		if (*name == ';')
			putc(':', stream);
		else if (character_at(name).is_text)
			fwrite(name, 1, length, stream);
		else
			putc('?', stream);
	}
}

static void put_stack(FILE *stream, struct arena *scratch, const struct stack *stack)
{
	bool first = true;
	if (stack->depth == 0)
		fputs("[no stack]", stream);
	for (unsigned i = stack->depth; i-- > 0;) {
		const struct location *at = stack->at[i];
		for (unsigned j = at->frame_count; j-- > 0; first = false) {
			if (!first)
				putc(';', stream);
			put_name(stream, frame_name(scratch, at, &at->frames[j]));
		}
	}
	arena_reset(scratch);
}

void render_folded(FILE *stream, const struct answer *answer)
{
	struct arena scratch = {0};

	if (answer->changes) {
		for (size_t i = 0; i < answer->changes->count; i++) {
			const struct change *c = &answer->changes->all[i];
			put_stack(stream, &scratch, c->stack);
			fprintf(stream, " %" PRIu64 " %" PRIu64 "\n", c->old_bytes, c->new_bytes);
		}
	} else {
		struct weights weights = answer_weights(answer);
		for (size_t i = 0; i < weights.count; i++) {
			const struct weight *w = &weights.all[i];
			if (w->bytes == 0 && w->blocks == 0)
				continue;
			if (w->stack)
				put_stack(stream, &scratch, w->stack);
			else
				put_name(stream, w->label);
			fprintf(stream, " %" PRId64 "\n", w->bytes);
		}
		free(weights.all);
	}
	arena_free(&scratch);
}
