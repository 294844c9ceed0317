/* why_json.c - the ways of pointers as JSON, see render_why.h. */
#include <inttypes.h>
#include <jansson.h>

#include "tools/render/json_stack.h"
#include "tools/render/render_why.h"

static json_t *text(const char *value)
{
	json_t *string = value ? json_string(value) : NULL;
	return string ? string : json_null(); /* a name that is no UTF-8 */
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *hex(uint64_t value)
{
	char digits[24];
	snprintf(digits, sizeof digits, "0x%" PRIx64, value);
	return json_string(digits);
}

static json_t *root_json(const struct why *why, const struct way_root *root)
{
	json_t *object = json_object();
	json_object_set_new(object, "type", text(root_names[root->kind]));
	json_object_set_new(object, "address", root->address ? hex(root->address) : json_null());
	json_object_set_new(object, "module",
	                    root->module ? text(root->module->path) : json_null());
	json_object_set_new(object, "variable", text(demangle(why->demangler, root->variable)));
	json_object_set_new(object, "offset", hex(root->offset));
	json_object_set_new(object, "thread", root->thread ? number(root->thread) : json_null());
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
	char *digits = xmalloc(2 * there + 1);
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
		json_object_set_new(object, "pointer_offset",
		                    i > 0 ? hex(mark->at - before) : json_null());
		json_object_set_new(object, "address", hex(block->address));
		json_object_set_new(object, "bytes", number(block->size));
		json_object_set_new(object, "rank",
		                    block->rank ? number(block->rank) : json_null());
		json_array_append_new(steps, object);
		before = block->address;
	}
	return steps;
}

static json_t *way_json(const struct why *why, const struct way *way)
{
	json_t *object = json_object();
	json_object_set_new(object, "kind", text(reach_names[way->kind]));
	json_object_set_new(object, "bytes", number(way->bytes));
	json_object_set_new(object, "blocks", number(way->blocks));
	json_object_set_new(object, "root", root_json(why, &way->root));
	json_object_set_new(object, "steps", steps_json(why, way));
	if (why->content > 0)
		json_object_set_new(object, "content",
		                    content_json(why, &why->reach->index.blocks[way->block]));
	return object;
}

void render_why_json(FILE *stream, const struct why *why)
{
	const struct dump *dump = why->reach->dump;
	json_t *document = json_object(), *sites = json_array();

	json_object_set_new(document, "format", text("leakwrap-why"));
	json_object_set_new(document, "version", number(1));
	json_object_set_new(document, "pid", number(dump->pid));
	json_object_set_new(document, "sequence", number(dump->sequence));
	for (size_t i = 0; i < why->site_count; i++) {
		const struct why_site *of = &why->sites[i];
		json_t *object = json_object(), *ways = json_array();
		json_object_set_new(object, "rank", number(of->site->rank));
		json_object_set_new(object, "live_bytes", number(of->site->bytes));
		json_object_set_new(object, "live_blocks", number(of->site->blocks));
		json_object_set_new(object, "frames", stack_json(dump, of->site->stack));
		for (size_t j = 0; j < of->ways.count; j++)
			json_array_append_new(ways, way_json(why, &of->ways.all[j]));
		json_object_set_new(object, "ways", ways);
		json_array_append_new(sites, object);
	}
	json_object_set_new(document, "call_sites", sites);
	json_dumpf(document, stream, JSON_COMPACT);
	putc('\n', stream);
	json_decref(document);
}
