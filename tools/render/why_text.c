/* why_text.c - the ways of pointers for people, see render_why.h. */
#include <ctype.h>
#include <inttypes.h>

#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/render/render_why.h"
#include "tools/render/text_page.h"

/* More blocks of one call site in a row than this are counted. */
enum { ROW_MAX = 3 };

enum { BYTES_PER_LINE = 16 };

static const char *const kind_words[REACHES] = {
        [REACH_DEFINITE] = "definitely lost: no pointer leads there",
        [REACH_INDIRECT] = "indirectly lost: only lost memory leads there",
        [REACH_POSSIBLE] = "possibly lost: only pointers into blocks lead there",
        [REACH_REACHABLE] = "still reachable",
};

static const struct listed_block *block_of(const struct why *why, size_t number)
{
	return &why->reach->index.blocks[number];
}

/* Writes where a way begins. */
static void put_root(struct page *page, const struct why *why, const struct way_root *root)
{
	FILE *stream = page->stream;

	fputs("      ", stream);
	switch (root->kind) {
	case ROOT_NONE:
		fputs("a definitely lost block", stream);
		break;
	case ROOT_VARIABLE:
		fputs("variable ", stream);
		set_tone(page, TONE_NAME);
		put_text(stream, demangle(why->demangler, root->variable));
		if (root->offset > 0)
			fprintf(stream, "+0x%" PRIx64, root->offset);
		set_tone(page, TONE_PLAIN);
		fputs(" of ", stream);
		put_text(stream, root->module->name);
		break;
	case ROOT_MODULE:
		fputs("memory of ", stream);
		put_text(stream, root->module->name);
		break;
	case ROOT_DECLARED:
		fputs("memory that the program declared", stream);
		break;
	case ROOT_STORAGE:
		fprintf(stream, "thread-local storage of thread %lu", root->thread);
		break;
	case ROOT_STACK:
		fprintf(stream, "stack of thread %lu", root->thread);
		break;
	case ROOT_REGISTER:
		fprintf(stream, "a register of thread %lu", root->thread);
		break;
	case ROOT_MEMORY:
		fputs("memory outside of modules and stacks", stream);
		break;
	case ROOT_IGNORED:
		fputs("an ignored block", stream);
		break;
	case ROOT_PARTED:
		fputs("a block in which other live blocks lie", stream);
		break;
	}
	if (root->address != 0)
		fprintf(stream, ", at 0x%" PRIx64, root->address);
	putc('\n', stream);
}

/* Writes which call site BLOCK is of. */
static void put_site(struct page *page, const struct why *why, const struct listed_block *block)
{
	const struct dump *dump = why->reach->dump;

	if (block->is_ignored || block->rank == 0) {
		fputs(", of a call site that is left out", page->stream);
		return;
	}
	fprintf(page->stream, ", #%" PRIu64, block->rank);
	if (block->rank > dump->site_count)
		return;
	const char *name = group_of_stack(dump->sites[block->rank - 1].stack, GROUP_FUNCTION);
	if (name) {
		putc(' ', page->stream);
		set_tone(page, TONE_NAME);
		put_text(page->stream, name);
		set_tone(page, TONE_PLAIN);
	}
}

/* Writes the step NUMBER of WAY. */
static void put_step(struct page *page, const struct why *why, const struct way *way, size_t number)
{
	const size_t at = way->steps[number];
	const struct listed_block *block = block_of(why, at);
	const struct mark *mark = &why->reach->marking.marks[at];

	fputs("      ", page->stream);
	if (number > 0)
		fprintf(page->stream, "+0x%" PRIx64 " ",
		        mark->at - block_of(why, way->steps[number - 1])->address);
	fprintf(page->stream, "-> %s byte%s at 0x%" PRIx64, with_commas(block->size),
	        block->size == 1 ? "" : "s", block->address);
	/* Without the tag of an address in the top byte. */
	const uint64_t into =
	        (image_word(&why->reach->image, mark->at) & (UINT64_MAX >> 8)) - block->address;
	if (mark->at != 0 && into > 0 && into < block->size)
		fprintf(page->stream, ", 0x%" PRIx64 " bytes into it", into);
	put_site(page, why, block);
	putc('\n', page->stream);
}

/* Returns how many steps of WAY from NUMBER on are blocks of one call site. */
static size_t row_length(const struct why *why, const struct way *way, size_t number)
{
	const uint64_t rank = block_of(why, way->steps[number])->rank;
	size_t length = 1;

	while (number + length < way->step_count &&
	       block_of(why, way->steps[number + length])->rank == rank)
		length++;
	return length;
}

static void put_steps(struct page *page, const struct why *why, const struct way *way)
{
	for (size_t i = 0; i < way->step_count;) {
		const size_t length = row_length(why, way, i);
		put_step(page, why, way, i);
		if (length > ROW_MAX)
			fprintf(page->stream, "      ... %s\n",
			        counted(page, length - 2, "block of this call site"));
		for (size_t j = length > ROW_MAX ? length - 1 : 1; j < length; j++)
			put_step(page, why, way, i + j);
		i += length;
	}
}

/* Writes the first bytes of BLOCK in hexadecimal and as text. */
static void put_content(struct page *page, const struct why *why, const struct listed_block *block)
{
	const uint64_t size = block->size < why->content ? block->size : why->content;
	const unsigned char *bytes;

	for (uint64_t at = 0; at < size; at += BYTES_PER_LINE) {
		uint64_t there = image_bytes(&why->reach->image, block->address + at, &bytes);
		if (there == 0)
			break;
		if (there > size - at)
			there = size - at;
		fprintf(page->stream, "      %6" PRIx64 " ", at);
		for (uint64_t i = 0; i < BYTES_PER_LINE; i++)
			if (i < there)
				fprintf(page->stream, " %02x", bytes[i]);
			else
				fputs("   ", page->stream);
		fputs("  ", page->stream);
		for (uint64_t i = 0; i < BYTES_PER_LINE && i < there; i++)
			putc(bytes[i] < 0x80 && isprint(bytes[i]) ? bytes[i] : '.', page->stream);
		putc('\n', page->stream);
	}
}

static void put_way(struct page *page, const struct why *why, const struct way *way)
{
	fprintf(page->stream, "\n    %s bytes in %s, ", with_commas(way->bytes),
	        counted(page, way->blocks, "block"));
	set_tone(page, way->kind == REACH_REACHABLE ? TONE_STRONG : TONE_ALERT);
	fputs(kind_words[way->kind], page->stream);
	set_tone(page, TONE_PLAIN);
	fputs(way->blocks > 1 ? ".  One of them:\n" : ":\n", page->stream);
	if (way->kind != REACH_DEFINITE)
		put_root(page, why, &way->root);
	put_steps(page, why, way);
	put_content(page, why, block_of(why, way->block));
}

void render_why_text(FILE *stream, const struct why *why, const struct style *style)
{
	struct page page = {.stream = stream, .style = style, .all_frames = why->all_frames};

	put_title(&page, why->reach->dump);
	for (size_t i = 0; i < why->site_count; i++) {
		const struct why_site *of = &why->sites[i];
		const size_t shown =
		        why->top && why->top < of->ways.count ? why->top : of->ways.count;
		fprintf(stream, "\n  #%" PRIu64 " %s bytes in %s", of->site->rank,
		        with_commas(of->site->bytes), counted(&page, of->site->blocks, "block"));
		put_stack_kind(&page, of->site);
		putc('\n', stream);
		put_stack(&page, of->site->stack);
		for (size_t j = 0; j < shown; j++)
			put_way(&page, why, &of->ways.all[j]);
		if (shown < of->ways.count)
			fprintf(stream, "\n    %s not shown: --top=0 shows all.\n",
			        counted(&page, of->ways.count - shown, "way"));
		arena_reset(&page.scratch);
	}
	arena_free(&page.scratch);
}
