/* render_pprof.c - a gzipped profile.proto (tools/render/profile.proto) for pprof and its
 * relatives.
 *
 * A call site has two values, live blocks and live bytes.  If the dump says what was allocated so
 * far, these blocks and bytes stand before them.  If it tells lost from reachable memory, the
 * values of a call site come by kind, with the label "kind".  For a comparison of two dumps these
 * are the changes, for a series the steady growth.  All names are in the profile, so a viewer needs
 * no other file.
 */
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"
#include "tools/base/text.h"
#include "tools/render/render.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "profile.pb-c.h"
#include "tools/render/weights.h"

/* The values of a call site, and how many of them are of live blocks. */
enum { VALUES = 4, LIVE_VALUES = 2 };

struct builder {
	struct arena arena;
	struct table strings, functions, mappings, locations;
	char **text;
	Leakwrap__Pprof__Function **function;
	Leakwrap__Pprof__Mapping **mapping;
	Leakwrap__Pprof__Location **location;
	Leakwrap__Pprof__Sample **sample;
	size_t text_count, text_room, function_count, function_room, mapping_count, mapping_room;
	size_t location_count, location_room, sample_count, sample_room;
	bool addresses_only;
};

/* An entry of a table: what was added before, and the number that it got. */
struct numbered {
	const void *a, *b; /* the key */
	uint64_t c;
	uint64_t number;
};

static bool is_same_numbered(const void *key, const void *entry)
{
	const struct numbered *k = key, *e = entry;
	return k->a == e->a && k->b == e->b && k->c == e->c;
}

/* Returns the entry of KEY in TABLE.  A new entry has number 0. */
static struct numbered *find_or_add(struct builder *b, struct table *table, struct numbered key)
{
	uint64_t hash =
	        hash_word(hash_word(hash_word(0, (uintptr_t)key.a), (uintptr_t)key.b), key.c);
	struct numbered *found = table_find(table, hash, &key, is_same_numbered);
	if (!found) {
		found = arena_alloc(&b->arena, sizeof *found);
		*found = key;
		table_add(table, hash, found);
	}
	return found;
}

struct text_entry {
	const char *text;
	int64_t index;
};

static bool is_same_text(const void *key, const void *entry)
{
	return strcmp(key, ((const struct text_entry *)entry)->text) == 0;
}

/* Returns TEXT with a question mark for each character that is no text.  protobuf demands UTF-8,
 * and a viewer may write to a terminal. */
static char *clean_utf8(struct arena *arena, const char *text)
{
	char *copy = arena_alloc(arena, strlen(text) + 1), *p = copy;
	for (struct character c; *text; text += c.length) {
		c = character_at(text);
		p = c.is_text ? mempcpy(p, text, c.length) : stpcpy(p, "?");
	}
	return copy;
}

static int64_t add_text(struct builder *b, const char *text)
{
	if (!text)
		text = "";
	uint64_t hash = hash_bytes(0, text, strlen(text));
	struct text_entry *entry = table_find(&b->strings, hash, text, is_same_text);
	if (!entry) {
		entry = arena_alloc(&b->arena, sizeof *entry);
		*entry = (struct text_entry){arena_copy(&b->arena, text, strlen(text)),
		                             (int64_t)b->text_count};
		table_add(&b->strings, hash, entry);
		GROW(b->text, b->text_room, b->text_count + 1);
		b->text[b->text_count++] = clean_utf8(&b->arena, text);
	}
	return entry->index;
}

static uint64_t add_function(struct builder *b, const char *name, const char *file)
{
	struct numbered key = {.c = (uint64_t)add_text(b, name) << 32 |
	                            (uint64_t)add_text(b, file)};
	struct numbered *entry = find_or_add(b, &b->functions, key);
	if (entry->number)
		return entry->number;

	Leakwrap__Pprof__Function *function = arena_alloc(&b->arena, sizeof *function);
	leakwrap__pprof__function__init(function);
	GROW(b->function, b->function_room, b->function_count + 1);
	b->function[b->function_count++] = function;
	function->id = entry->number = b->function_count;
	function->name = function->system_name = add_text(b, name);
	function->filename = add_text(b, file);
	return function->id;
}

static uint64_t add_mapping(struct builder *b, const struct dump *dump, const struct module *module)
{
	const struct mapping *where = module ? mapping_of(dump, module) : NULL;
	if (!where || where->end == 0)
		return 0;
	struct numbered key = {.a = module, .c = where->bias};
	struct numbered *entry = find_or_add(b, &b->mappings, key);
	if (entry->number)
		return entry->number;

	Leakwrap__Pprof__Mapping *mapping = arena_alloc(&b->arena, sizeof *mapping);
	leakwrap__pprof__mapping__init(mapping);
	GROW(b->mapping, b->mapping_room, b->mapping_count + 1);
	b->mapping[b->mapping_count++] = mapping;
	mapping->id = entry->number = b->mapping_count;
	mapping->memory_start = where->start;
	mapping->memory_limit = where->end;
	mapping->filename = add_text(b, module->path);
	mapping->build_id = add_text(b, module->build_id);
	/* So the viewer does not look for the file. */
	mapping->has_functions = mapping->has_filenames = mapping->has_line_numbers =
	        mapping->has_inline_frames = !b->addresses_only;
	return mapping->id;
}

static Leakwrap__Pprof__Location *start_location(struct builder *b, size_t line_count)
{
	Leakwrap__Pprof__Location *location = arena_alloc(&b->arena, sizeof *location);
	leakwrap__pprof__location__init(location);
	GROW(b->location, b->location_room, b->location_count + 1);
	b->location[b->location_count++] = location;
	location->id = b->location_count;
	location->line = arena_alloc(&b->arena, line_count * sizeof *location->line);
	return location;
}

static void add_line(struct builder *b, Leakwrap__Pprof__Location *location, const char *name,
                     const char *file, unsigned number)
{
	Leakwrap__Pprof__Line *line = arena_alloc(&b->arena, sizeof *line);
	leakwrap__pprof__line__init(line);
	line->function_id = add_function(b, name, file);
	line->line = number;
	location->line[location->n_line++] = line;
}

static uint64_t add_location(struct builder *b, const struct dump *dump, const struct location *at)
{
	uint64_t address = raw_address(dump, at);
	struct numbered *entry =
	        find_or_add(b, &b->locations, (struct numbered){.a = at, .c = address});
	if (entry->number)
		return entry->number;

	Leakwrap__Pprof__Location *location = start_location(b, at->frame_count);
	entry->number = location->id;
	location->mapping_id = add_mapping(b, dump, at->module);
	/* pprof wants the address of the call, not of the return. */
	location->address = address && !at->exact ? address - 1 : address;
	/* An address without a mapping means nothing to a reader, so it has a name. */
	for (unsigned i = 0; i < at->frame_count && !(b->addresses_only && location->mapping_id);
	     i++)
		add_line(b, location, frame_name(&b->arena, at, &at->frames[i]), at->frames[i].file,
		         at->frames[i].line);
	return location->id;
}

/* Adds a location that is no place in the program but has the name LABEL. */
static uint64_t add_label(struct builder *b, const char *label)
{
	struct numbered key = {.b = b, .c = (uint64_t)add_text(b, label)};
	struct numbered *entry = find_or_add(b, &b->locations, key);
	if (!entry->number) {
		Leakwrap__Pprof__Location *location = start_location(b, 1);
		entry->number = location->id;
		add_line(b, location, label, NULL, 0);
	}
	return entry->number;
}

/* Gives SAMPLE the label "kind". */
static void add_kind(struct builder *b, Leakwrap__Pprof__Sample *sample, enum reach kind)
{
	Leakwrap__Pprof__Label *label = arena_alloc(&b->arena, sizeof *label);

	leakwrap__pprof__label__init(label);
	label->key = add_text(b, "kind");
	label->str = add_text(b, reach_names[kind]);
	sample->label = arena_alloc(&b->arena, sizeof *sample->label);
	sample->label[sample->n_label++] = label;
}

/* Adds WEIGHT with VALUE_COUNT values: live blocks and bytes, behind allocated blocks and bytes if
 * there are four.  KIND is their label; REACHES: they have none. */
static void add_sample(struct builder *b, const struct weight *weight, size_t value_count,
                       enum reach kind)
{
	const struct stack *stack = weight->stack;
	size_t depth = stack && stack->depth ? stack->depth : 1;
	Leakwrap__Pprof__Sample *sample = arena_alloc(&b->arena, sizeof *sample);

	leakwrap__pprof__sample__init(sample);
	sample->location_id = arena_alloc(&b->arena, depth * sizeof *sample->location_id);
	if (!stack || stack->depth == 0)
		sample->location_id[sample->n_location_id++] =
		        add_label(b, stack ? "[no stack]" : weight->label);
	for (unsigned i = 0; stack && i < stack->depth; i++)
		sample->location_id[sample->n_location_id++] =
		        add_location(b, weight->dump, stack->at[i]);
	const int64_t values[] = {weight->allocated_blocks, weight->allocated_bytes, weight->blocks,
	                          weight->bytes};
	sample->value = arena_alloc(&b->arena, value_count * sizeof *sample->value);
	sample->n_value = value_count;
	memcpy(sample->value, values + (VALUES - value_count), value_count * sizeof *values);
	if (kind < REACHES)
		add_kind(b, sample, kind);
	GROW(b->sample, b->sample_room, b->sample_count + 1);
	b->sample[b->sample_count++] = sample;
}

/* Adds a sample for each kind of WEIGHT, and one for what has no kind. */
static void add_samples(struct builder *b, const struct weight *weight, size_t value_count)
{
	struct weight rest = *weight;

	for (unsigned kind = 0; kind < REACHES; kind++) {
		struct weight part = *weight;
		part.bytes = weight->kinds[kind].bytes;
		part.blocks = weight->kinds[kind].blocks;
		part.allocated_bytes = part.allocated_blocks = 0;
		if (part.bytes || part.blocks)
			add_sample(b, &part, value_count, kind);
		/* The numbers of a sum may have stopped at their limit. */
		rest.bytes = (int64_t)((uint64_t)rest.bytes - (uint64_t)part.bytes);
		rest.blocks = (int64_t)((uint64_t)rest.blocks - (uint64_t)part.blocks);
	}
	if (rest.bytes || rest.blocks || rest.allocated_bytes || rest.allocated_blocks)
		add_sample(b, &rest, value_count, REACHES);
}

static void write_gzip(FILE *stream, const uint8_t *bytes, size_t size)
{
	z_stream zip = {0};
	unsigned char out[32 * 1024] = {0};
	int state;

	/* 16 more window bits ask for a gzip header (zlib.h, deflateInit2). */
	if (deflateInit2(&zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
	                 Z_DEFAULT_STRATEGY) != Z_OK)
		die("zlib: cannot start");
	do {
		if (zip.avail_in == 0) {
			size_t piece = size < 1 << 30 ? size : 1 << 30;
			zip.next_in = bytes;
			zip.avail_in = (uInt)piece;
			bytes += piece;
			size -= piece;
		}
		zip.next_out = out;
		zip.avail_out = sizeof out;
		state = deflate(&zip, size ? Z_NO_FLUSH : Z_FINISH);
		fwrite(out, 1, sizeof out - zip.avail_out, stream);
	} while (state == Z_OK || state == Z_BUF_ERROR);
	deflateEnd(&zip);
}

/* Packs PROFILE and writes it to STREAM. */
static void write_profile(FILE *stream, const Leakwrap__Pprof__Profile *profile)
{
	size_t size = leakwrap__pprof__profile__get_packed_size(profile);
	uint8_t *packed = xmalloc(size);

	leakwrap__pprof__profile__pack(profile, packed);
	write_gzip(stream, packed, size);
	free(packed);
}

static void free_builder(struct builder *b)
{
	free(b->text);
	free(b->function);
	free(b->mapping);
	free(b->location);
	free(b->sample);
	table_free(&b->strings);
	table_free(&b->functions);
	table_free(&b->mappings);
	table_free(&b->locations);
	arena_free(&b->arena);
}

/* Adds the mappings of the first dump.  pprof takes the first mapping for that of the program. */
static void add_mappings(struct builder *b, const struct weights *weights)
{
	if (weights->count == 0)
		return;
	const struct dump *dump = weights->all[0].dump;
	for (size_t i = 0; i < dump->mapping_count; i++)
		add_mapping(b, dump, dump->mappings[i].module);
}

void render_pprof(FILE *stream, const struct answer *answer)
{
	struct builder b = {.addresses_only = answer->addresses_only};
	Leakwrap__Pprof__Profile profile = LEAKWRAP__PPROF__PROFILE__INIT;
	Leakwrap__Pprof__ValueType types[VALUES], *type[VALUES];
	Leakwrap__Pprof__ValueType period = LEAKWRAP__PPROF__VALUE_TYPE__INIT;
	struct weights weights = answer_weights(answer);
	const size_t value_count = weights.has_allocated ? VALUES : LIVE_VALUES;
	int64_t seconds = -1;

	add_text(&b, "");
	/* Readers know the values of Go's heap profiles by these names, and compare two profiles
	 * only if the names are the same. */
	static const char *const go_names[] = {"alloc_objects", "alloc_space", "inuse_objects",
	                                       "inuse_space"};
	const char *const *names = go_names + (VALUES - value_count);
	for (size_t i = 0; i < value_count; i++) {
		type[i] = &types[i];
		leakwrap__pprof__value_type__init(type[i]);
		type[i]->type = add_text(&b, names[i]);
		type[i]->unit = add_text(&b, i % 2 ? "bytes" : "count");
	}
	add_mappings(&b, &weights);
	for (size_t i = 0; i < weights.count; i++) {
		add_samples(&b, &weights.all[i], value_count);
		if (weights.all[i].dump->seconds > seconds)
			seconds = weights.all[i].dump->seconds;
	}
	period.type = add_text(&b, "space");
	period.unit = add_text(&b, "bytes");
	profile.period_type = &period;
	/* If all blocks were recorded, each byte is in the profile. */
	profile.period = weights.interval > 0 ? weights.interval : 1;
	profile.n_sample_type = value_count;
	profile.sample_type = type;
	/* The bytes: of all allocations, or of live blocks. */
	profile.default_sample_type =
	        add_text(&b, answer->shows_allocated ? names[1] : names[value_count - 1]);
	profile.n_sample = b.sample_count;
	profile.sample = b.sample;
	profile.n_mapping = b.mapping_count;
	profile.mapping = b.mapping;
	profile.n_location = b.location_count;
	profile.location = b.location;
	profile.n_function = b.function_count;
	profile.function = b.function;
	profile.n_string_table = b.text_count;
	profile.string_table = b.text;
	profile.time_nanos =
	        seconds > 0 && seconds < INT64_MAX / 1000000000 ? seconds * 1000000000 : 0;

	profile.duration_nanos = (int64_t)(answer->seconds * 1e9);

	write_profile(stream, &profile);
	free(weights.all);
	free_builder(&b);
}
