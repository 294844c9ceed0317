/* interior.c - see interior.h. */
#include "tools/image/interior.h"

#include "tools/image/array.h"

#include <string.h>

/* A vtable's functions begin where an object points.  Pure virtual tables may begin with zeros. */
enum { VTABLE_WORDS = 20 };

static bool is_code(const struct interior_search *search, uint64_t address)
{
	const struct image_module *module = image_module_at(search->modules, address);
	if (!module || !search->image->is_core)
		return module && address >= module->mapping->start &&
		       address < module->mapping->end;
	return image_is_code(search->image, address);
}

/* Returns true if ADDRESS may be a vtable: data of a module, in which the address of code follows
 * soon. */
static bool is_vtable(const struct interior_search *search, uint64_t address)
{
	const uint64_t word = search->image->word;

	if (address % word != 0 || !image_module_at(search->modules, address) ||
	    is_code(search, address))
		return false;
	for (unsigned i = 0; i < VTABLE_WORDS; i++, address += word) {
		const uint64_t content = image_word(search->image, address);
		if (is_code(search, content))
			return true;
		if (content != 0)
			return false;
	}
	return false;
}

/* Elements of a hash table that code with SSE2 compares in one step (wrap/reach/interior.c). */
enum { GROUP = 16 };

/* Returns true if POINTER leads to the control bytes of a hash table in BLOCK.  See
 * wrap/reach/interior.c. */
static bool is_table_with(const struct image *image, const struct listed_block *block,
                          uint64_t pointer, uint64_t group)
{
	const uint64_t offset = pointer - block->address, elements = block->size - offset - group;
	const uint64_t repeated = elements < group ? elements : group;
	const unsigned char *control, *last;
	unsigned used = 0;

	if (block->size - offset <= group || repeated < 4 || (elements & (elements - 1)) != 0 ||
	    offset % repeated != 0 || pointer % group != 0 ||
	    image_bytes(image, pointer, &control) < group ||
	    image_bytes(image, block->address + block->size - repeated, &last) < repeated ||
	    memcmp(control, last, (size_t)repeated) != 0)
		return false;
	for (uint64_t i = 0; i < group; i++) {
		if (i < elements ? control[i] > 0x80 && control[i] != 0xff : control[i] != 0xff)
			return false;
		used |= control[i];
	}
	return used != 0; /* zeros may be anything */
}

/* Returns true if POINTER leads to an aligned part of BLOCK, and BLOCK's address stands in front of
 * the part or in it.  See wrap/reach/interior.c. */
static bool is_aligned_part(const struct interior_search *search, const struct listed_block *block,
                            uint64_t pointer)
{
	const uint64_t word = search->image->word, offset = pointer - block->address;

	if (pointer % (2 * word) != 0 || offset < word)
		return false;
	return image_word(search->image, pointer - word) == block->address ||
	       (search->is_glibc && block->size - offset >= 2 * word &&
	        image_word(search->image, pointer + word) == block->address);
}

/* Returns true if POINTER leads to a part of BLOCK that begins with BLOCK's address, or with the
 * address behind its LENGTH, 0 for none.  See wrap/reach/interior.c. */
static bool is_part_that_leads_back(const struct image *image, const struct listed_block *block,
                                    uint64_t pointer, uint64_t length)
{
	const uint64_t word = image->word;

	if (pointer % word != 0 || block->address + block->size - pointer < word)
		return false;
	const uint64_t first = image_word(image, pointer);
	return first == block->address || (length > 0 && first == block->address + 8);
}

/* The words of a type of GObject in which the list of its ancestors may begin. */
enum { ANCESTORS_FIRST = 6, ANCESTORS_LAST = 12 };

/* Returns true if POINTER leads to an instance of GObject in BLOCK.  See wrap/reach/interior.c. */
static bool is_glib_object(const struct image *image, const struct listed_block *block,
                           uint64_t pointer)
{
	const uint64_t word = image->word;

	if (pointer % word != 0 || block->address + block->size - pointer < 3 * word)
		return false;
	const uint64_t class = image_word(image, pointer), type = image_word(image, class);
	if (class == 0 || class % word != 0 || type == 0 || type % word != 0)
		return false;
	for (unsigned i = ANCESTORS_FIRST; i <= ANCESTORS_LAST; i++)
		if (image_word(image, type + i * word) == type)
			return true;
	return false;
}

/* Returns true if BLOCK is a fundamental type of GObject.  See wrap/reach/glib_parts.c. */
static bool is_fundamental_type(const struct image *image, const struct listed_block *block)
{
	const uint64_t word = image->word, words = block->size / word;
	const uint64_t end = block->address + block->size;

	if (block->size % word != 0 || words < ANCESTORS_FIRST + 3 || words > ANCESTORS_LAST + 3)
		return false;
	const uint64_t number = image_word(image, end - 2 * word);
	return image_word(image, block->address) <= 15 && number > 0 && number % 4 == 0 &&
	       number <= 255 << 2 && image_word(image, end - word) == 0;
}

/* Returns true if BLOCK is a closure of GObject with what is in front of it.  See
 * wrap/reach/glib_parts.c. */
static bool is_closure(const struct interior_search *search, const struct listed_block *block)
{
	static const unsigned char missing[] = {0, 2, 3};
	const uint64_t word = search->image->word, address = block->address;
	const uint64_t first = image_word(search->image, address + 4 * word);

	if (block->size < 8 * word || (first & 0x7fff) == 0 || first > UINT32_MAX ||
	    !is_code(search, image_word(search->image, address + 5 * word)))
		return false;
	for (unsigned i = 0; i < sizeof(missing); i++) {
		const uint64_t code = image_word(search->image, address + missing[i] * word);
		if (code != 0 && !is_code(search, code))
			return false;
	}
	return true;
}

/* Returns true if BLOCK is a slab of GLib's small blocks.  See wrap/reach/glib_parts.c. */
static bool is_glib_slab(const struct image *image, const struct listed_block *block)
{
	const uint64_t word = image->word, page = block->size + 2 * word;
	const uint64_t about = block->address + block->size - 4 * word;

	if ((page & (page - 1)) != 0 || block->address % page != 0 || block->size < 8 * word)
		return false;
	const uint64_t next = image_word(image, about + 2 * word);
	const uint64_t last = image_word(image, about + 3 * word);
	return next != 0 && next % word == 0 && last != 0 && last % word == 0 &&
	       image_word(image, next + 3 * word) == about &&
	       image_word(image, last + 2 * word) == about;
}

/* Returns true if POINTER into BLOCK is one of those by which GLib holds it.  See
 * wrap/reach/glib_parts.c. */
static bool is_of_glib(const struct interior_search *search, const struct listed_block *block,
                       uint64_t pointer)
{
	const uint64_t word = search->image->word, offset = pointer - block->address;

	return block->address % word == 0 &&
	       (is_glib_object(search->image, block, pointer) ||
	        (offset == word && is_fundamental_type(search->image, block)) ||
	        (offset == 4 * word && is_closure(search, block)) ||
	        is_glib_slab(search->image, block));
}

/* Returns true if BLOCK may be a node of glibc's tsearch.  See wrap/reach/interior.c. */
static bool is_tree_node(const struct image *image, const struct listed_block *block)
{
	const uint64_t word = image->word;
	const uint64_t left = image_word(image, block->address + word);
	const uint64_t right = image_word(image, block->address + 2 * word);

	return block->size == 3 * word && (left & ~UINT64_C(1)) % (2 * word) == 0 &&
	       right % (2 * word) == 0;
}

/* Returns true if BLOCK may be a std::string of libstdc++'s present ABI.  See
 * wrap/reach/interior.c. */
static bool is_string(const struct image *image, const struct listed_block *block)
{
	const uint64_t word = image->word, limit = UINT64_MAX >> 1 >> (64 - 8 * word);
	const uint64_t bytes = image_word(image, block->address);
	const uint64_t length = image_word(image, block->address + word);
	const uint64_t capacity = image_word(image, block->address + 2 * word);

	if (block->size != 2 * word + 16 || block->address % word != 0)
		return false;
	if (bytes == block->address + 2 * word)
		return length < 16;
	return bytes != 0 && length <= capacity && capacity >= 16 && capacity <= limit;
}

/* Returns true if BLOCK may be of a string of ICU: the characters, behind the number of its OWNERS.
 * See wrap/reach/interior.c. */
static bool is_behind_owners(const struct listed_block *block, uint64_t owners)
{
	return block->size > 0 && block->size % 16 == 0 && owners > 0 && owners <= 0xffff;
}

/* Returns true if POINTER leads behind the start of the oldest block of an arena of Protocol
 * Buffers, BLOCK.  See wrap/reach/interior.c. */
static bool is_in_arena(const struct image *image, const struct listed_block *block,
                        uint64_t pointer)
{
	const uint64_t word = image->word, offset = pointer - block->address;

	if (offset < 2 * word || offset > 3 * word + 4 || offset % 8 != 0 ||
	    block->size < 9 * word || image_word(image, block->address) != 0)
		return false;
	return image_word(image, block->address + word) == block->size ||
	       (offset >= 3 * word && image_word(image, block->address + 2 * word) == block->size);
}

/* Words in front of the operations of a slab of Perl, with what aligns them. */
enum { SLAB_WORDS = 6 };

/* Returns true if BLOCK is a slab of operations of Perl.  See wrap/reach/interior.c. */
static bool is_perl_slab(const struct image *image, const struct listed_block *block)
{
	const uint64_t word = image->word, next = image_word(image, block->address);
	const uint64_t first = image_word(image, block->address + word);
	const unsigned char *sizes;

	if (block->size < 9 * word || block->address % word != 0 ||
	    image_bytes(image, block->address + 4 * word, &sizes) < 4)
		return false;
	const uint64_t bytes = (image_load(sizes, 4) >> 16) * word;
	if (bytes == 0 || bytes > block->size || block->size - bytes > SLAB_WORDS * word)
		return false;
	return first != 0 && first % word == 0 && image_word(image, first + word) == first &&
	       (next == 0 || (next != block->address && next % word == 0 &&
	                      image_word(image, next + word) == first));
}

/* Returns true if POINTER leads to an array or a string of Free Pascal in BLOCK.  See
 * wrap/reach/interior.c. */
static bool is_of_pascal(const struct image *image, const struct listed_block *block,
                         uint64_t pointer)
{
	const uint64_t offset = pointer - block->address, rest = block->size - offset;
	const unsigned char *bytes;

	if ((offset != 24 && offset != 32) || image->word != 8 || block->address % 8 != 0 ||
	    image_word(image, block->address) != block->size - 8 ||
	    image_bytes(image, block->address + 8, &bytes) < 4)
		return false;
	const uint64_t count = image_word(image, pointer - 8) + 1;
	if ((int64_t)image_word(image, pointer - 16) <= 0 || count == 0 || count > rest)
		return false;
	const uint64_t character = image_load(bytes, 4) >> 16;
	return offset == 24 ? rest % count == 0
	                    : (character == 1 || character == 2) && count * character <= rest;
}

/* Returns true if POINTER leads to an object of Objective-C in BLOCK, behind the number of its
 * owners.  See wrap/reach/interior.c. */
static bool is_objective_c(const struct image *image, const struct listed_block *block,
                           uint64_t pointer)
{
	const uint64_t word = image->word;
	uint64_t class = pointer;

	if (pointer % word != 0 || pointer - block->address > 4 * word ||
	    block->address + block->size - pointer < word)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		class = image_word(image, class);
		if (class == 0 || class % word != 0)
			return false;
	}
	const uint64_t root = image_word(image, class + word);
	return image_word(image, class) == class && root != 0 && root % word == 0 &&
	       image_word(image, root) == class && image_word(image, root + word) == 0;
}

/* How many types are asked whether they are the type of types. */
enum { TYPE_STEPS = 4 };

/* Returns true if the object of CPython at OBJECT has a type.  See wrap/reach/interior.c. */
static bool has_python_type(const struct image *image, uint64_t object)
{
	const uint64_t word = image->word;
	const unsigned char *name;
	uint64_t type;

	for (unsigned i = 0; i < TYPE_STEPS; i++, object = type) {
		type = image_word(image, object + word);
		if (type == 0 || type % word != 0)
			return false;
		if (type == object)
			return image_bytes(image, image_word(image, type + 3 * word), &name) >=
			               sizeof("type") &&
			       memcmp(name, "type", sizeof("type")) == 0;
	}
	return false;
}

/* Returns true if POINTER leads to the values of the attributes of an object of CPython.  See
 * wrap/reach/interior.c. */
static bool is_python_values(const struct image *image, const struct listed_block *block,
                             uint64_t pointer)
{
	const uint64_t word = image->word, offset = pointer - block->address;
	const uint64_t values = (block->size - offset) / word;
	const unsigned char *last;

	return pointer % word == 0 && values > 0 && block->size % word == 0 &&
	       offset == (values + 2 + word - 1) / word * word &&
	       image_bytes(image, pointer - 2, &last) >= 2 && last[1] == offset &&
	       last[0] <= values;
}

/* Returns true if POINTER leads to an object of CPython in BLOCK, or to a part of one.  See
 * wrap/reach/interior.c. */
static bool is_of_python(const struct image *image, const struct listed_block *block,
                         uint64_t pointer)
{
	const uint64_t word = image->word, offset = pointer - block->address;
	const uint64_t rest = block->size - offset;
	const unsigned char *last;

	if (offset < word || offset > 6 * word || pointer % word != 0)
		return false;
	if (offset >= 4 * word && image_word(image, block->address + 2 * word) == rest - 1 &&
	    image_bytes(image, pointer + rest - 1, &last) >= 1 && *last == 0 &&
	    has_python_type(image, block->address))
		return true;
	return is_python_values(image, block, pointer) ||
	       ((offset == 2 * word || offset == 4 * word) && rest >= 2 * word &&
	        has_python_type(image, pointer));
}

/* Returns true if POINTER into BLOCK has one of the reasons that need an operating system.  FIRST:
 * the first 32 bits of BLOCK. */
static bool is_interior_of_system(const struct interior_search *search,
                                  const struct listed_block *block, uint64_t pointer,
                                  uint64_t first)
{
	const struct image *image = search->image;
	const uint64_t offset = pointer - block->address;

	return image->is_core &&
	       (is_of_glib(search, block, pointer) || is_perl_slab(image, block) ||
	        is_objective_c(image, block, pointer) || is_in_arena(image, block, pointer) ||
	        is_of_pascal(image, block, pointer) ||
	        (offset == 2 * image->word &&
	         image_word(image, block->address + image->word) == block->size - offset) ||
	        is_of_python(image, block, pointer) || (offset < 4 && is_string(image, block)) ||
	        (offset == 4 && is_behind_owners(block, first)));
}

bool is_usual_interior(const void *context, const struct listed_block *block, uint64_t pointer)
{
	const struct interior_search *search = context;
	const struct image *image = search->image;
	const uint64_t word = image->word, offset = pointer - block->address, size = block->size;
	const unsigned char *bytes;

	if (offset == size)
		return true;
	if (word == 0 || image_bytes(image, block->address, &bytes) < 8)
		return false;
	const uint64_t first = image_load(bytes, image->word);
	const uint64_t second = image_word(image, block->address + word);
	const uint64_t stored = image_load(bytes, 8), length = stored == size - 8 ? stored : 0;
	const bool is_old_string = offset == 3 * word && first <= second && size > 3 * word &&
	                           second == size - 3 * word - 1;
	const bool is_behind_length = offset == 8 && length > 0;
	/* glibc's vector of dynamic thread-local storage, see wrap/reach/interior.c. */
	const bool is_thread_vector = search->is_glibc && offset == 2 * word &&
	                              size % (2 * word) == 0 && first == size / (2 * word) - 2;
	const bool is_behind_talloc_header =
	        offset == 12 * word && size > 12 * word &&
	        image_word(image, block->address + 8 * word) == size - 12 * word;
	return is_old_string || is_array(image, block, pointer) || is_behind_length ||
	       is_thread_vector || is_behind_talloc_header ||
	       is_aligned_part(search, block, pointer) ||
	       (search->is_glibc && offset == 1 && is_tree_node(image, block)) ||
	       is_part_that_leads_back(image, block, pointer, length) ||
	       (pointer % word == 0 && size - offset >= word &&
	        is_vtable(search, image_word(image, pointer)) && is_vtable(search, first)) ||
	       is_table_with(image, block, pointer, GROUP) ||
	       is_table_with(image, block, pointer, word) ||
	       is_interior_of_system(search, block, pointer, image_load(bytes, 4));
}
