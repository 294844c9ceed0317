/* why_json.c - the ways of pointers as JSON, see render_why.h. */
#include "tools/base/memory.h"
#include "tools/render/json_stack.h"
#include "tools/render/json_text.h"
#include "tools/render/render_why.h"

static json_t *root_json(const struct why *why, const struct way_root *root)
{
	json_t *object = json_object();
	set_json(object, "type", text_json(root_names[root->kind]));
	set_json(object, "address", root->address ? hex_json(root->address) : json_null());
	set_json(object, "module", root->module ? text_json(root->module->path) : json_null());
	set_json(object, "variable", text_json(demangle(why->demangler, root->variable)));
	set_json(object, "offset", hex_json(root->offset));
	set_json(object, "thread", root->thread ? number_json(root->thread) : json_null());
	return object;
}

/* Returns the bytes of BLOCK that are asked for, in hexadecimal. */
static json_t *content_json(const struct why *why, const struct listed_block *block)
{
	const uint64_t size = block->size < why->content ? block->size : why->content;
	const unsigned char *bytes = NULL;
	uint64_t there = image_bytes(&why->reach->image, block->address, &bytes);

	if (there > size)
		there = size;
	char *digits = xmalloc(2 * (size_t)there + 1);
	digits[0] = '\0';
	for (uint64_t i = 0; i < there; i++)
		sprintf(digits + 2 * i, "%02x", bytes[i]);
	json_t *string = json_string(digits);
	free(digits);
	return string;
}

static json_t *steps_json(const struct why *why, const struct way *way)
{
	json_t *steps = json_array();
	uint64_t before = 0;

	for (size_t i = 0; i < way->step_count; i++) {
		const struct listed_block *block = &why->reach->index.blocks[way->steps[i]];
		const struct mark *mark = &why->reach->marking.marks[way->steps[i]];
		json_t *object = json_object();
		set_json(object, "pointer_offset",
		         i > 0 ? hex_json(mark->at - before) : json_null());
		set_json(object, "address", hex_json(block->address));
		set_json(object, "bytes", number_json(block->size));
		set_json(object, "rank", block->rank ? number_json(block->rank) : json_null());
		append_json(steps, object);
		before = block->address;
	}
	return steps;
}

static json_t *way_json(const struct why *why, const struct way *way)
{
	json_t *object = json_object();
	set_json(object, "kind", text_json(reach_names[way->kind]));
	set_json(object, "bytes", number_json(way->bytes));
	set_json(object, "blocks", number_json(way->blocks));
	set_json(object, "root", root_json(why, &way->root));
	set_json(object, "steps", steps_json(why, way));
	if (why->content > 0)
		set_json(object, "content",
		         content_json(why, &why->reach->index.blocks[way->block]));
	return object;
}

void render_why_json(FILE *stream, const struct why *why)
{
	const struct dump *dump = why->reach->dump;
	json_t *document = json_object(), *sites = json_array();

	set_json(document, "format", text_json("leakwrap-why"));
	set_json(document, "version", number_json(1));
	set_json(document, "pid", number_json(dump->pid));
	set_json(document, "sequence", number_json(dump->sequence));
	for (size_t i = 0; i < why->site_count; i++) {
		const struct why_site *of = &why->sites[i];
		json_t *object = json_object(), *ways = json_array();
		set_json(object, "rank", number_json(of->site->rank));
		set_json(object, "live_bytes", number_json(of->site->bytes));
		set_json(object, "live_blocks", number_json(of->site->blocks));
		set_json(object, "frames", stack_json(dump, of->site->stack));
		for (size_t j = 0; j < of->ways.count; j++)
			append_json(ways, way_json(why, &of->ways.all[j]));
		set_json(object, "ways", ways);
		append_json(sites, object);
	}
	set_json(document, "call_sites", sites);
	put_json(stream, document, 0);
	putc('\n', stream);
}
