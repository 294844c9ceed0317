/* interior.c - see interior.h. */
#include "wrap/reach/interior.h"

#include "wrap/module/modules.h"
#include "wrap/reach/glib_parts.h"
#ifndef LEAKWRAP_BARE
#include "wrap/reach/maps.h"
#endif
#include "wrap/unwind/stack_bounds.h"

#include <string.h>

#define WORD sizeof(uintptr_t)

/* How many bytes at the start of a block may decide. */
#define HEAD (9 * WORD)

/* Elements of a hash table that code with SSE2 compares in one step.  Other code compares as many
 * as a word has bytes. */
#define GROUP ((size_t)16)

/* The word NUMBER of the block at BLOCK. */
static uintptr_t word_of(uintptr_t block, unsigned number)
{
	return leakwrap_stack_word(block + number * WORD);
}

static bool is_old_string(uintptr_t block, size_t size)
{
	const uintptr_t length = word_of(block, 0), capacity = word_of(block, 1);

	return length <= capacity && size > 3 * WORD && capacity == size - 3 * WORD - 1;
}

bool leakwrap_is_empty_array(uintptr_t block, size_t size)
{
	if (size != LEAKWRAP_COOKIE || block % WORD != 0)
		return false;
#if LEAKWRAP_COOKIE_WORDS == 2
	return word_of(block, 0) > 0 && word_of(block, 1) == 0;
#else
	return word_of(block, 0) == 0;
#endif
}

/* The number of elements stands right in front of them.  Elements with a larger alignment than the
 * cookie have as many bytes in front of them.  The size of each is a multiple of its alignment, so
 * that few other words look like a number of elements there. */
static bool is_array(uintptr_t block, size_t size, uintptr_t pointer)
{
	const size_t offset = pointer - block, rest = size - offset;
	uintptr_t elements;

	if (offset < LEAKWRAP_COOKIE || (offset & (offset - 1)) != 0 || pointer % offset != 0)
		return false;
	elements = leakwrap_stack_word(pointer - WORD);
	if (elements == 0 || rest % elements != 0)
		return false;
#if LEAKWRAP_COOKIE_WORDS == 2
	return leakwrap_stack_word(pointer - 2 * WORD) == rest / elements;
#else
	return offset == WORD || rest / elements % offset == 0;
#endif
}

static bool is_behind_length(uintptr_t block, size_t size)
{
	uint64_t length;

	memcpy(&length, (const void *)block, sizeof(length));
	return length > 0 && length == size - sizeof(length);
}

/* A vector has two words for each element, and two more elements (glibc, elf/dl-tls.c,
 * allocate_dtv). */
static bool is_thread_vector(uintptr_t block, size_t size)
{
#ifdef __GLIBC__
	return size % (2 * WORD) == 0 && word_of(block, 0) == size / (2 * WORD) - 2;
#else
	(void)block, (void)size;
	return false;
#endif
}

/* The header has 11 words, and is aligned to 16 bytes (libtalloc, talloc.c, struct
 * talloc_chunk). */
static bool is_behind_talloc_header(uintptr_t block, size_t size)
{
	return size > 12 * WORD && word_of(block, 8) == size - 12 * WORD;
}

/* Returns true if POINTER leads to an aligned part of the block, and the block's address stands in
 * front of the part or in it. */
static bool is_aligned_part(uintptr_t block, size_t size, uintptr_t pointer)
{
	const size_t offset = pointer - block;

	if (pointer % (2 * WORD) != 0 || offset < WORD)
		return false;
	if (leakwrap_stack_word(pointer - WORD) == block)
		return true;
#ifdef __GLIBC__
	return size - offset >= 2 * WORD && leakwrap_stack_word(pointer + WORD) == block;
#else
	(void)size;
	return false;
#endif
}

/* Returns true if POINTER leads to a part of the block that begins with the block's address, or
 * with the address behind the block's length.  SQLite ends a page so (src/pcache.h, struct
 * PgHdr). */
static bool is_part_that_leads_back(uintptr_t block, size_t size, uintptr_t pointer)
{
	uintptr_t first;

	if (pointer % WORD != 0 || block + size - pointer < WORD)
		return false;
	first = leakwrap_stack_word(pointer);
	return first == block ||
	       (first == block + sizeof(uint64_t) && is_behind_length(block, size));
}

/* A node of tsearch has three words: the key, the left child and the right child.  The lowest bit
 * of a pointer to the left child is the colour of the node that holds it (glibc, misc/tsearch.c,
 * struct node_t). */
static bool is_tree_node(uintptr_t block, size_t size)
{
#ifdef __GLIBC__
	return size == 3 * WORD && (word_of(block, 1) & ~(uintptr_t)1) % (2 * WORD) == 0 &&
	       word_of(block, 2) % (2 * WORD) == 0;
#else
	(void)block, (void)size;
	return false;
#endif
}

/* A vtable's functions begin where an object points.  Pure virtual tables may begin with zeros. */
#define VTABLE_WORDS 20u

#ifndef LEAKWRAP_BARE

/* Returns true if ADDRESS may be a vtable: constant data of a module, in which the address of code
 * follows soon. */
static bool is_vtable(uintptr_t address)
{
	const struct leakwrap_mapping *const mapping =
	        address % WORD == 0 ? leakwrap_mapping_at(address) : NULL;
	const struct leakwrap_module *module;
	const struct leakwrap_segment *segment;

	/* Most words are no addresses of a file: that is found out quickly. */
	if (!mapping || !mapping->is_file)
		return false;
	module = leakwrap_module_at(address);
	segment = leakwrap_segment_at(address);
	if (!module || !segment || leakwrap_module_text(module, address))
		return false;
	for (unsigned i = 0; i < VTABLE_WORDS && segment->end - address >= WORD; i++) {
		const uintptr_t word = leakwrap_stack_word(address);
		const struct leakwrap_module *const code = leakwrap_module_at(word);

		if (code && leakwrap_module_text(code, word))
			return true;
		if (word != 0)
			return false;
		address += WORD;
	}
	return false;
}

#else

/* The same, without an operating system: constant data among the code. */
static bool is_vtable(uintptr_t address)
{
	const struct leakwrap_module *const module = leakwrap_module_at(address);

	if (!module || address % WORD != 0)
		return false;
	for (unsigned i = 0; i < VTABLE_WORDS && module->end - address >= WORD; i++) {
		const uintptr_t word = leakwrap_stack_word(address);

		if (word != 0)
			return leakwrap_module_at(word) == module;
		address += WORD;
	}
	return false;
}

#endif

static bool is_part_of_object(uintptr_t block, size_t size, uintptr_t pointer)
{
	return pointer % WORD == 0 && block + size - pointer >= WORD &&
	       is_vtable(leakwrap_stack_word(pointer)) && is_vtable(word_of(block, 0));
}

#ifndef LEAKWRAP_BARE

/* Returns true if BYTE may be a control byte of a hash table: seven bits of a hash, or an element
 * that is empty or was removed. */
static bool is_control(uint8_t byte)
{
	return byte <= 0x80 || byte == 0xff;
}

/* A table of 2^n elements is followed by a control byte for each of them, and by the first control
 * bytes once more, as many as a group has.  If the table has fewer elements than a group, the
 * control bytes of the missing ones are there, and empty (hashbrown, src/raw/mod.rs, set_ctrl). */
static bool is_table_with(uintptr_t block, size_t size, uintptr_t pointer, size_t group)
{
	const size_t offset = pointer - block, elements = size - offset - group;
	const size_t repeated = elements < group ? elements : group;
	const uint8_t *const control = (const uint8_t *)pointer;
	unsigned used = 0;

	if (size - offset <= group || repeated < 4 || (elements & (elements - 1)) != 0 ||
	    offset % repeated != 0 || pointer % group != 0 ||
	    memcmp(control, (const uint8_t *)(block + size - repeated), repeated) != 0)
		return false;
	for (size_t i = 0; i < group; i++) {
		if (i < elements ? !is_control(control[i]) : control[i] != 0xff)
			return false;
		used |= control[i];
	}
	return used != 0; /* zeros may be anything */
}

static bool is_hash_table(uintptr_t block, size_t size, uintptr_t pointer)
{
	return is_table_with(block, size, pointer, GROUP) ||
	       is_table_with(block, size, pointer, WORD);
}

/* Returns true if the block may be a std::string of libstdc++'s present ABI.  That has the address
 * of the characters, their number, and 16 bytes, in which they are or their capacity is.  Protocol
 * Buffers keep marks in the two lowest bits of a string's address
 * (src/google/protobuf/arenastring.h, class TaggedStringPtr). */
static bool is_string(uintptr_t block, size_t size)
{
	uintptr_t length, capacity;

	if (size != 2 * WORD + 16 || block % WORD != 0)
		return false;
	length = word_of(block, 1);
	capacity = word_of(block, 2);
	if (word_of(block, 0) == block + 2 * WORD)
		return length < 16;
	return word_of(block, 0) != 0 && length <= capacity && capacity >= 16 &&
	       capacity <= UINTPTR_MAX / 2;
}

/* Words at the start of an arena's oldest block: no block before it, its size, and in some versions
 * one more. */
#define ARENA_WORDS 3u

/* Returns true if POINTER leads behind the start of the oldest block of an arena of Protocol
 * Buffers (src/google/protobuf/arena_impl.h, struct Block). */
static bool is_in_arena(uintptr_t block, size_t size, uintptr_t pointer)
{
	const size_t offset = pointer - block;

	if (offset < 2 * WORD || offset > ARENA_WORDS * WORD + 4 || offset % 8 != 0 ||
	    size < HEAD || word_of(block, 0) != 0)
		return false;
	return word_of(block, 1) == size ||
	       (offset >= ARENA_WORDS * WORD && word_of(block, 2) == size);
}

/* The characters of a string of ICU are behind the number of its owners, which are few, and the
 * size of all is a multiple of 16 (icu4c/source/common/unistr.cpp, UnicodeString::allocate). */
#define OWNERS_MAX 0xffffu

static bool is_behind_owners(uintptr_t block, size_t size)
{
	uint32_t owners;

	if (size == 0 || size % 16 != 0)
		return false;
	memcpy(&owners, (const void *)block, sizeof(owners));
	return owners > 0 && owners <= OWNERS_MAX;
}

/* Words in front of a slab's operations, with what aligns them. */
#define SLAB_WORDS 6u

/* Returns true if the block is a slab of operations of Perl, to which the operations lead and
 * little else.  It begins with the address of the next slab and that of the first, which is its own
 * in the first slab.  In its fifth word stands how many words of operations it has (perl 5.36,
 * op.h, struct opslab). */
static bool is_perl_slab(uintptr_t block, size_t size, leakwrap_is_readable *is_readable)
{
	uintptr_t next, first;
	uint16_t words;

	if (size < HEAD || block % WORD != 0)
		return false;
	next = word_of(block, 0);
	first = word_of(block, 1);
	memcpy(&words, (const void *)(block + 4 * WORD + sizeof(words)), sizeof(words));
	if (words == 0 || words * WORD > size || size - words * WORD > SLAB_WORDS * WORD)
		return false;
	return first % WORD == 0 && is_readable(first, 2 * WORD) && word_of(first, 1) == first &&
	       (next == 0 || (next != block && next % WORD == 0 && is_readable(next, 2 * WORD) &&
	                      word_of(next, 1) == first));
}

/* Two words, of which the second is the size of the rest (Tcl, generic/tclThreadAlloc.c, struct
 * Block). */
static bool is_behind_size(uintptr_t block, size_t size)
{
	return size > 2 * WORD && word_of(block, 1) == size - 2 * WORD;
}

/* Returns true if POINTER leads to the elements of a dynamic array of Free Pascal, or to the
 * characters of a string.  Its memory manager on top of malloc begins a block with a length.  Then
 * an array has the number of its owners and its highest index.  A string has 16 bits for its code
 * page and as many for the size of a character, the number of its owners and its length (FPC 3.2,
 * rtl/inc/dynarr.inc, rtl/inc/astrings.inc). */
static bool is_of_pascal(uintptr_t block, size_t size, uintptr_t pointer)
{
	const size_t offset = pointer - block, rest = size - offset;
	uint16_t character;
	uintptr_t count;

	if ((offset != 3 * WORD && offset != 4 * WORD) || WORD != sizeof(uint64_t) ||
	    block % WORD != 0 || !is_behind_length(block, size))
		return false;
	count = leakwrap_stack_word(pointer - WORD) + 1;
	if ((intptr_t)leakwrap_stack_word(pointer - 2 * WORD) <= 0 || count == 0 || count > rest)
		return false;
	if (offset == 3 * WORD)
		return rest % count == 0;
	memcpy(&character, (const void *)(block + WORD + sizeof(character)), sizeof(character));
	return (character == 1 || character == 2) && count * character <= rest;
}

/* Words that may be in front of an object of GNUstep: the number of its owners, and what aligns the
 * object. */
#define OWNERS_WORDS 4u

/* Returns true if POINTER leads to an object of Objective-C, behind the number of its owners.  An
 * object begins with the address of its class, a class with that of its metaclass, a metaclass with
 * that of the root metaclass, which begins with its own.  The second word of the root metaclass is
 * the address of the root class, whose metaclass it is, and which has no class above it (GNUstep
 * Base, Source/NSObject.m, struct obj_layout; gcc, libobjc/objc-private/module-abi-8.h, struct
 * objc_class). */
static bool is_objective_c(uintptr_t block, size_t size, uintptr_t pointer,
                           leakwrap_is_readable *is_readable)
{
	uintptr_t class = pointer, root;

	if (pointer % WORD != 0 || pointer - block > OWNERS_WORDS * WORD ||
	    block + size - pointer < WORD)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		class = leakwrap_stack_word(class);
		if (class == 0 || class % WORD != 0 || !is_readable(class, 2 * WORD))
			return false;
	}
	root = word_of(class, 1);
	return word_of(class, 0) == class && root != 0 && root % WORD == 0 &&
	       is_readable(root, 2 * WORD) && word_of(root, 0) == class && word_of(root, 1) == 0;
}

/* The name of the type of types, whose type it is itself, and how many types are asked for it. */
#define TYPE_OF_TYPES "type"
#define TYPE_STEPS    4u

/* Returns true if the object of CPython at OBJECT has a type.  The object's second word is its
 * type, an object, too.  The name of a type is its fourth word.  Each type's type, and so on, is
 * "type" at last (CPython, Include/object.h, struct _object; Include/cpython/object.h, struct
 * _typeobject). */
static bool has_python_type(uintptr_t object, leakwrap_is_readable *is_readable)
{
	uintptr_t type;

	for (unsigned i = 0; i < TYPE_STEPS; i++, object = type) {
		type = leakwrap_stack_word(object + WORD);
		if (type == 0 || type % WORD != 0 || !is_readable(type, 4 * WORD))
			return false;
		if (type == object) {
			const uintptr_t name = word_of(type, 3);

			return is_readable(name, sizeof(TYPE_OF_TYPES)) &&
			       memcmp((const void *)name, TYPE_OF_TYPES, sizeof(TYPE_OF_TYPES)) ==
			               0;
		}
	}
	return false;
}

/* Returns true if POINTER leads to an object of CPython, behind what its collector and its
 * attributes need: two or four words. */
static bool is_python_object(uintptr_t block, size_t size, uintptr_t pointer,
                             leakwrap_is_readable *is_readable)
{
	const size_t offset = pointer - block;

	return (offset == 2 * WORD || offset == 4 * WORD) && pointer % WORD == 0 &&
	       size - offset >= 2 * WORD && has_python_type(pointer, is_readable);
}

/* Returns true if POINTER leads to the characters of a str or the bytes of a bytes object, which
 * end the block with a 0.  In front of them are four to six words, of which the third is their
 * number (CPython, Include/cpython/unicodeobject.h, PyASCIIObject;
 * Include/cpython/bytesobject.h). */
static bool is_python_text(uintptr_t block, size_t size, uintptr_t pointer,
                           leakwrap_is_readable *is_readable)
{
	const size_t offset = pointer - block;

	return (offset == 4 * WORD || offset == 5 * WORD || offset == 6 * WORD) &&
	       pointer % WORD == 0 && word_of(block, 2) == size - offset - 1 &&
	       *(const uint8_t *)(block + size - 1) == 0 && has_python_type(block, is_readable);
}

/* Returns true if POINTER leads to the values of an object's attributes.  In front of them are a
 * byte for each and two more, rounded up to words.  The last byte is the number of all these bytes,
 * the byte before it that of the attributes in use (CPython 3.11, Objects/dictobject.c,
 * new_values). */
static bool is_python_values(uintptr_t block, size_t size, uintptr_t pointer)
{
	const size_t offset = pointer - block, values = (size - offset) / WORD;
	const uint8_t *const behind = (const uint8_t *)pointer;

	return pointer % WORD == 0 && values > 0 && size % WORD == 0 &&
	       offset == (values + 2 + WORD - 1) / WORD * WORD && behind[-1] == offset &&
	       behind[-2] <= values;
}

static bool is_of_python(uintptr_t block, size_t size, uintptr_t pointer,
                         leakwrap_is_readable *is_readable)
{
	return is_python_values(block, size, pointer) ||
	       is_python_text(block, size, pointer, is_readable) ||
	       is_python_object(block, size, pointer, is_readable);
}

#else

/* CPython needs an operating system. */
static bool is_of_python(uintptr_t block, size_t size, uintptr_t pointer,
                         leakwrap_is_readable *is_readable)
{
	(void)block, (void)size, (void)pointer, (void)is_readable;
	return false;
}

/* So do GNUstep, Tcl and Free Pascal. */
static bool is_objective_c(uintptr_t block, size_t size, uintptr_t pointer,
                           leakwrap_is_readable *is_readable)
{
	(void)block, (void)size, (void)pointer, (void)is_readable;
	return false;
}

static bool is_behind_size(uintptr_t block, size_t size)
{
	(void)block, (void)size;
	return false;
}

static bool is_of_pascal(uintptr_t block, size_t size, uintptr_t pointer)
{
	(void)block, (void)size, (void)pointer;
	return false;
}

/* So does Perl. */
static bool is_perl_slab(uintptr_t block, size_t size, leakwrap_is_readable *is_readable)
{
	(void)block, (void)size, (void)is_readable;
	return false;
}

/* So do Protocol Buffers and ICU. */
static bool is_in_arena(uintptr_t block, size_t size, uintptr_t pointer)
{
	(void)block, (void)size, (void)pointer;
	return false;
}

static bool is_string(uintptr_t block, size_t size)
{
	(void)block, (void)size;
	return false;
}

static bool is_behind_owners(uintptr_t block, size_t size)
{
	(void)block, (void)size;
	return false;
}

/* Rust's hash tables need an operating system. */
static bool is_hash_table(uintptr_t block, size_t size, uintptr_t pointer)
{
	(void)block, (void)size, (void)pointer;
	return false;
}

#endif

/* Returns whether what the functions above read can be read. */
static bool can_decide(uintptr_t block, size_t size, uintptr_t pointer,
                       leakwrap_is_readable *is_readable)
{
	const uintptr_t end = block + size;
	const uintptr_t before =
	        pointer - block < LEAKWRAP_COOKIE ? block : pointer - LEAKWRAP_COOKIE;
	const uintptr_t behind = end - pointer < GROUP ? end : pointer + GROUP;

	return is_readable(block, size < HEAD ? size : HEAD) &&
	       is_readable(before, behind - before) &&
	       is_readable(size < GROUP ? block : end - GROUP, size < GROUP ? size : GROUP);
}

bool leakwrap_is_usual_interior(uintptr_t block, size_t size, uintptr_t pointer,
                                leakwrap_is_readable *is_readable)
{
	const uintptr_t offset = pointer - block;

	if (offset == size)
		return true;
	return can_decide(block, size, pointer, is_readable) &&
	       ((offset == 3 * WORD && is_old_string(block, size)) ||
	        is_array(block, size, pointer) ||
	        (offset == sizeof(uint64_t) && is_behind_length(block, size)) ||
	        (offset == 2 * WORD && is_thread_vector(block, size)) ||
	        (offset == 12 * WORD && is_behind_talloc_header(block, size)) ||
	        (offset == 1 && is_tree_node(block, size)) ||
	        (offset < 4 && is_string(block, size)) || is_in_arena(block, size, pointer) ||
	        (offset == sizeof(uint32_t) && is_behind_owners(block, size)) ||
	        is_aligned_part(block, size, pointer) ||
	        is_part_that_leads_back(block, size, pointer) ||
	        is_part_of_object(block, size, pointer) || is_hash_table(block, size, pointer) ||
	        leakwrap_is_glib_interior(block, size, pointer, is_readable) ||
	        is_perl_slab(block, size, is_readable) ||
	        is_objective_c(block, size, pointer, is_readable) ||
	        (offset == 2 * WORD && is_behind_size(block, size)) ||
	        is_of_pascal(block, size, pointer) ||
	        is_of_python(block, size, pointer, is_readable));
}
