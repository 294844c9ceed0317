/* interior_rules.h - the rules that tell whether a pointer into a block is a usual way to hold it.
 * interior.h lists the ways.
 *
 * Each file that searches memory includes this header once: wrap/reach/interior.c for the process
 * itself, and tools/image/interior.c for a core file.  All is inlined, so that the compiler knows
 * the functions of struct leakwrap_memory.
 */
#ifndef LEAKWRAP_INTERIOR_RULES_H
#define LEAKWRAP_INTERIOR_RULES_H

#include "wrap/rules/abseil_rules.h"
#include "wrap/rules/array_rules.h"
#include "wrap/rules/chain_rules.h"
#include "wrap/rules/cxx_rules.h"
#include "wrap/rules/glib_rules.h"
#include "wrap/rules/hash_table_rules.h"
#include "wrap/rules/header_rules.h"
#include "wrap/rules/interior_pointer.h"
#include "wrap/rules/linked_rules.h"
#include "wrap/rules/lua_rules.h"
#include "wrap/rules/php_rules.h"
#include "wrap/rules/pool_rules.h"
#include "wrap/rules/python_rules.h"
#include "wrap/rules/ralloc_rules.h"
#include "wrap/rules/ta_rules.h"
#include "wrap/rules/talloc_rules.h"

/* -- the C library, and who aligns blocks ------------------------------------------------------ */

/* A vector has two words for each element, and two more elements (allocate_dtv in elf/dl-tls.c of
 * glibc, and in ldso/ldso/dl-tls.c of uClibc-ng). */
LEAKWRAP_INLINE bool is_thread_vector(const struct leakwrap_interior *in)
{
	const leakwrap_word two = 2 * in->memory->word;

	return in->memory->has_system && in->offset == two && leakwrap_is_multiple(in->size, two) &&
	       leakwrap_word_of(in, 0) == in->size / two - 2;
}

/* A node of tsearch has three words: the key, the left child and the right child.  The lowest bit
 * of a pointer to the left child is the colour of the node that holds it (glibc, misc/tsearch.c,
 * struct node_t). */
LEAKWRAP_INLINE bool is_tree_node(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;

	return in->memory->is_glibc && in->offset == 1 && in->size == 3 * word &&
	       leakwrap_is_multiple(leakwrap_word_of(in, 1) & ~(leakwrap_word)1, 2 * word) &&
	       leakwrap_is_multiple(leakwrap_word_of(in, 2), 2 * word);
}

/* Returns whether the pointer leads to an aligned part of the block, and the block's address stands
 * in front of the part.  Behind that address alone the part may be aligned to a word (Qt 5.15,
 * qMallocAligned in src/corelib/global/qmalloc.cpp, for QContiguousCache). */
LEAKWRAP_INLINE bool is_aligned_part(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;
	const bool is_behind_address = in->memory->has_system && in->offset == word;

	return leakwrap_is_multiple(in->pointer, is_behind_address ? word : 2 * word) &&
	       in->offset >= word && leakwrap_word_at(in->memory, in->pointer - word) == in->block;
}

/* Words in front of what omp_alloc of GCC returns: the block's address and size, the allocator, and
 * one more (libgomp/allocator.c, struct omp_mem_header). */
#define OPENMP_WORDS 4u

LEAKWRAP_INLINE bool is_behind_openmp_header(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word head = OPENMP_WORDS * memory->word;

	return in->offset >= head && leakwrap_leads_to_words(memory, in->pointer - head, 2) &&
	       leakwrap_word_at(memory, in->pointer - head) == in->block &&
	       leakwrap_word_at(memory, in->pointer - head + memory->word) == in->size;
}

/* The first words of a part in which the block's address may be. */
#define OWNER_WORDS 16u

/* Returns whether the pointer leads to a part of the block that has the block's address among its
 * first words, or the address behind the block's length.  A program that has the part gets to the
 * block.  Such parts are the end of a page of SQLite (src/pcache.h, struct PgHdr), an event of
 * libevent, which hands the block on (2.1, include/event2/event_struct.h, struct event_callback),
 * and an entry of unbound's caches, with a lock and three links in front (1.17,
 * util/storage/lruhash.h, struct lruhash_entry). */
LEAKWRAP_INLINE bool is_part_that_leads_back(const struct leakwrap_interior *in)
{
	const unsigned words = leakwrap_words_of_part(in, OWNER_WORDS);
	const leakwrap_word start = has_length(in) ? in->block + 8 : in->block;

	for (unsigned i = 0; i < words; i++) {
		const leakwrap_word word = leakwrap_word_of_part(in, i);

		if (word == in->block || word == start)
			return true;
	}
	return false;
}

/* -- programs with an operating system --------------------------------------------------------- */

/* The characters of a string of ICU are behind the number of its owners, which are few, and the
 * size of all is a multiple of 16 (icu4c/source/common/unistr.cpp, UnicodeString::allocate). */
#define OWNERS_MAX 0xffffu

LEAKWRAP_INLINE bool is_behind_owners(const struct leakwrap_interior *in)
{
	uint64_t owners;

	if (in->offset != 4 || in->size == 0 || in->size % 16 != 0)
		return false;
	owners = in->memory->load(in->memory->context, in->block, 4);
	return owners > 0 && owners <= OWNERS_MAX;
}

/* The marks of a string of SDS: its type is in the three lowest bits. */
#define SDS_TYPE_BITS 3u

/* Returns whether an allocator may grant GRANTED bytes where SIZE bytes are asked for: a quarter
 * more and a few words. */
LEAKWRAP_INLINE bool is_granted(uint64_t granted, uint64_t size)
{
	return granted >= size && granted - size <= size / 4 + 32;
}

/* Returns whether the block may be a string of SDS that takes SIZE bytes with its capacity.  A
 * string may use all that was granted for its block.  A copy of a string may have a block of the
 * bytes that were granted for the original (redis 7.0, src/defrag.c, activeDefragAlloc). */
LEAKWRAP_INLINE bool is_sds_size(const struct leakwrap_interior *in, uint64_t size)
{
	return is_granted(size, in->size) || is_granted(in->size, size);
}

/* The bytes by which the block of a short string may be larger than it needs: jemalloc's smallest
 * sizes are multiples of 16 (jemalloc(3), size classes). */
#define SDS_SHORT_REST 15u

/* Returns whether the block may be a string of SDS of the shortest type, with MARKS in front of the
 * characters.  Much else looks like one: in a block that is larger than it needs, each character
 * must be a text's. */
LEAKWRAP_INLINE bool is_short_sds(const struct leakwrap_interior *in, uint64_t marks)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word length = (leakwrap_word)(marks >> SDS_TYPE_BITS);
	const leakwrap_word needed = length + 2;

	if ((marks & ((1u << SDS_TYPE_BITS) - 1)) != 0 || needed > in->size ||
	    in->size - needed > SDS_SHORT_REST ||
	    memory->load(memory->context, in->pointer + length, 1) != 0)
		return false;
	for (leakwrap_word i = 0; needed < in->size && i < length; i++)
		if (memory->load(memory->context, in->pointer + i, 1) == 0)
			return false;
	return length > 0 || needed == in->size;
}

/* Returns true if the pointer leads to the characters of a string of SDS, as Redis has.  In front
 * of them are the length and the capacity, in 1, 2, 4 or 8 bytes each, and a byte with the type.
 * The shortest type has its length in the upper bits of that byte, and nothing in front of it.
 * Behind the characters is a 0 (redis 7.0, src/sds.h, struct sdshdr5 to sdshdr64). */
LEAKWRAP_INLINE bool is_sds(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const unsigned width = (unsigned)(in->offset / 2);
	unsigned type = 0;
	uint64_t marks, length, capacity, needed;

	if (in->offset % 2 == 0 || in->offset > 17 || (width & (width - 1)) != 0)
		return false;
	while (type < 4 && width >> type != 0)
		type++;
	marks = memory->load(memory->context, in->pointer - 1, 1);
	if (width == 0)
		return is_short_sds(in, marks);
	length = memory->load(memory->context, in->block, width);
	capacity = memory->load(memory->context, in->block + width, width);
	needed = capacity + in->offset + 1;
	return marks == type && length <= capacity && needed > capacity &&
	       is_sds_size(in, needed) &&
	       memory->is_readable(memory->context, in->pointer + (leakwrap_word)length, 1) &&
	       memory->load(memory->context, in->pointer + (leakwrap_word)length, 1) == 0;
}

/* Words in front of a slab's operations, with what aligns them. */
#define SLAB_WORDS 6u

/* Returns whether SLAB may be the address of a slab of Perl whose first slab is FIRST. */
LEAKWRAP_INLINE bool has_first_slab(const struct leakwrap_memory *memory, leakwrap_word slab,
                                    leakwrap_word first)
{
	return leakwrap_leads_to_words(memory, slab, 2) &&
	       leakwrap_word_at(memory, slab + memory->word) == first;
}

/* Returns true if the block is a slab of operations of Perl, to which the operations lead and
 * little else.  It begins with the address of the next slab and that of the first, which is its own
 * in the first slab.  In its fifth word stands how many words of operations it has (perl 5.36,
 * op.h, struct opslab). */
LEAKWRAP_INLINE bool is_perl_slab(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word;
	leakwrap_word next, first, bytes;

	if (in->size < LEAKWRAP_HEAD_WORDS * word)
		return false;
	next = leakwrap_word_of(in, 0);
	first = leakwrap_word_of(in, 1);
	bytes = (leakwrap_word)memory->load(memory->context, in->block + 4 * word + 2, 2) * word;
	if (bytes == 0 || bytes > in->size || in->size - bytes > SLAB_WORDS * word)
		return false;
	return has_first_slab(memory, first, first) &&
	       (next == 0 || (next != in->block && has_first_slab(memory, next, first)));
}

/* The most bytes of a header that keeps blocks aligned: sizeof(max_align_t), on i386. */
#define HEADER_MAX 48u

/* The bytes of a header of MariaDB, and flags in the size, which else is a multiple of 8. */
#define MARIADB_HEADER 24u
#define MARIADB_FLAGS  3u

/* The bytes of a header of MySQL, and its second number of 32 bits.  The size follows (8.0,
 * mysys/my_malloc.cc, struct my_memory_header). */
#define MYSQL_HEADER 32u
#define MYSQL_MAGIC  1234u

LEAKWRAP_INLINE bool is_behind_mysql_header(const struct leakwrap_interior *in, leakwrap_word rest)
{
	const struct leakwrap_memory *const memory = in->memory;

	return in->offset == MYSQL_HEADER &&
	       memory->load(memory->context, in->block + 4, 4) == MYSQL_MAGIC &&
	       leakwrap_word_at(memory, in->block + 8) == rest;
}

/* Returns true if the block begins with the size of the rest, which is aligned (BIND 9.18,
 * lib/isc/jemalloc_shim.h, size_info), or if the second word is this size (Tcl,
 * generic/tclThreadAlloc.c, struct Block; MariaDB 10.11, mysys/my_malloc.c, struct
 * my_memory_header). */
LEAKWRAP_INLINE bool is_behind_size(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word, rest = in->size - in->offset;

	if (in->offset > HEADER_MAX || !leakwrap_is_multiple(in->offset, word) || rest == 0)
		return false;
	return leakwrap_word_of(in, 0) == rest ||
	       (in->offset == 2 * word && leakwrap_word_of(in, 1) == rest) ||
	       (in->offset == MARIADB_HEADER &&
	        (leakwrap_word_of(in, 1) & ~(leakwrap_word)MARIADB_FLAGS) == rest) ||
	       is_behind_mysql_header(in, rest);
}

/* Returns true if the pointer leads to an aligned part of such a block, and the address of what is
 * behind the size stands in front of the part (MariaDB 10.11, mysys/lf_dynarray.c). */
LEAKWRAP_INLINE bool is_aligned_behind_size(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;
	struct leakwrap_interior start = *in;

	if (in->offset < word || !leakwrap_is_multiple(in->pointer, word))
		return false;
	start.pointer = leakwrap_word_at(in->memory, in->pointer - word);
	start.offset = start.pointer - in->block;
	return start.offset < in->offset && is_behind_size(&start);
}

/* Parts of a block that are looked at, on the way from the part to which the pointer leads. */
#define PARTS_MAX 24u

/* The entries of the table that finds a part among those that are known. */
#define PARTS_ENTRIES 64u

struct leakwrap_parts {
	leakwrap_word address[PARTS_MAX];
	unsigned count;
	uint8_t entries[PARTS_ENTRIES]; /* 1 + an index of ADDRESS; 0: free */
};

/* Adds the part at ADDRESS, a multiple of WORD, if it is new and there is room. */
LEAKWRAP_INLINE void add_part(struct leakwrap_parts *known, leakwrap_word address,
                              leakwrap_word word)
{
	unsigned entry = (unsigned)(address / word % PARTS_ENTRIES);

	if (known->count == PARTS_MAX)
		return;
	for (; known->entries[entry] != 0; entry = (entry + 1) % PARTS_ENTRIES)
		if (known->address[known->entries[entry] - 1] == address)
			return;
	known->address[known->count++] = address;
	known->entries[entry] = (uint8_t)known->count;
}

/* Returns true if a program gets from the part to the block by way of other parts: each has the
 * address of the next among its first words, and the last has the block's address or that of an
 * aligned part.  So a stream of gRPC, of which the transport has a list, leads to the arena in
 * which it lies (1.51, src/core/ext/transport/chttp2/transport/internal.h, grpc_chttp2_stream). */
LEAKWRAP_INLINE bool leads_back_by_parts(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;
	struct leakwrap_parts known = {.count = 0};
	const bool is_all_readable =
	        in->memory->is_readable(in->memory->context, in->block, in->size);
	struct leakwrap_interior part = *in, next = *in;

	add_part(&known, in->pointer, word);
	for (unsigned i = 0; i < known.count; i++) {
		part.pointer = known.address[i];
		part.offset = part.pointer - in->block;
		for (unsigned n = leakwrap_words_of_part(&part, OWNER_WORDS); n > 0; n--) {
			next.pointer = leakwrap_word_of_part(&part, n - 1);
			next.offset = next.pointer - in->block;
			if (next.offset >= in->size || !leakwrap_is_multiple(next.pointer, word))
				continue;
			if (next.offset == 0 ||
			    ((is_all_readable ||
			      leakwrap_leads_to_words(in->memory, next.pointer - word, 1)) &&
			     is_aligned_part(&next)))
				return true;
			add_part(&known, next.pointer, word);
		}
	}
	return false;
}

/* The bytes to which a program aligns a structure, and the words of it in which the block's address
 * may be. */
#define STRUCTURE_ALIGNMENT 64u
#define STRUCTURE_WORDS     96u

/* Returns true if the pointer leads to a structure at the first aligned address in the block that
 * has the block's address, by which the program frees it (Hyperscan 5.4, src/scratch.h, struct
 * hs_scratch). */
LEAKWRAP_INLINE bool is_aligned_structure(const struct leakwrap_interior *in)
{
	const unsigned words =
	        in->offset < STRUCTURE_ALIGNMENT &&
	                        leakwrap_is_multiple(in->pointer, STRUCTURE_ALIGNMENT)
	                ? leakwrap_words_of_part(in, STRUCTURE_WORDS)
	                : 0;

	for (unsigned i = 0; i < words; i++)
		if (leakwrap_word_of_part(in, i) == in->block)
			return true;
	return false;
}

/* The mark in headers of GlusterFS. */
#define GLUSTER_MAGIC 0xcafebabeu

/* Returns true if the pointer leads behind a header of GlusterFS.  A block that was asked for by
 * its size begins with an address, the size, and 32 bits each of a type and the mark.  A block of
 * its pools of objects begins with the mark in a word, the next free block, the thread's pools, 32
 * bits of which the size is a power of two, and the pool (10.3,
 * libglusterfs/src/glusterfs/mem-pool.h, struct mem_header and struct pooled_obj_hdr). */
LEAKWRAP_INLINE bool is_behind_gluster_header(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, rest = in->size - in->offset;

	if (in->offset == 2 * word + 8)
		return memory->load(memory->context, in->pointer - 4, 4) == GLUSTER_MAGIC &&
		       is_granted(rest, leakwrap_word_of(in, 1));
	return in->offset == 5 * word && leakwrap_word_of(in, 0) == GLUSTER_MAGIC &&
	       leakwrap_leads_to_words(memory, leakwrap_word_of(in, 4), 1);
}

/* The bytes of a slab of Tcl, the marks in front of each of its parts, and how many sizes of parts
 * there are. */
#define TCL_SLAB    16384u
#define TCL_MARK    0xefu
#define TCL_BUCKETS 16u

/* Returns true if the block is a slab of Tcl, and the pointer leads to a part of it that is in use.
 * In front of the part are two words.  The first has a mark, the number of the bucket of parts of
 * this size, a byte and a mark; the second is the size that was asked for
 * (generic/tclThreadAlloc.c, struct Block and GetBlocks). */
LEAKWRAP_INLINE bool is_tcl_part(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word head = 2 * memory->word, start = in->pointer - head;
	leakwrap_word part;
	uint64_t bucket;

	if (in->size != TCL_SLAB || in->offset < head || !leakwrap_is_multiple(start, head) ||
	    !leakwrap_leads_to_words(memory, start, 2) ||
	    memory->load(memory->context, start, 1) != TCL_MARK ||
	    memory->load(memory->context, start + 3, 1) != TCL_MARK)
		return false;
	bucket = memory->load(memory->context, start + 1, 1);
	part = 2 * head << (bucket % TCL_BUCKETS);
	return bucket < TCL_BUCKETS && leakwrap_is_multiple(start - in->block, part) &&
	       leakwrap_word_at(memory, start + memory->word) <= part - head;
}

/* Returns true if the pointer leads to the elements of a dynamic array of Free Pascal, or to the
 * characters of a string, in a process of 64 bits.  Its memory manager on top of malloc begins a
 * block with a length.  Then an array has the number of its owners and its highest index.  A string
 * has 16 bits for its code page and as many for the size of a character, the number of its owners
 * and its length (FPC 3.2, rtl/inc/dynarr.inc, rtl/inc/astrings.inc). */
LEAKWRAP_INLINE bool is_of_pascal(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word rest = in->size - in->offset;
	uint64_t character;
	leakwrap_word count;

	if ((in->offset != 24 && in->offset != 32) || memory->word != 8 || !has_length(in))
		return false;
	count = leakwrap_word_at(memory, in->pointer - 8) + 1;
	if ((int64_t)leakwrap_word_at(memory, in->pointer - 16) <= 0 || count == 0 || count > rest)
		return false;
	if (in->offset == 24)
		return rest % count == 0;
	character = memory->load(memory->context, in->block + 10, 2);
	return (character == 1 || character == 2) && count * character <= rest;
}

/* Words that may be in front of an object of GNUstep: the number of its owners, and what aligns the
 * object. */
#define GNUSTEP_WORDS 4u

/* Returns true if the pointer leads to an object of Objective-C, behind the number of its owners.
 * An object begins with the address of its class, a class with that of its metaclass, a metaclass
 * with that of the root metaclass, which begins with its own.  The second word of the root
 * metaclass is the address of the root class, whose metaclass it is, and which has no class above
 * it (GNUstep Base, Source/NSObject.m, struct obj_layout; gcc,
 * libobjc/objc-private/module-abi-8.h, struct objc_class). */
LEAKWRAP_INLINE bool is_objective_c(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word;
	leakwrap_word class = in->pointer, root;

	if (!leakwrap_is_multiple(class, word) || in->offset > GNUSTEP_WORDS * word ||
	    in->size - in->offset < word)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		class = leakwrap_word_at(memory, class);
		if (!leakwrap_leads_to_words(memory, class, 2))
			return false;
	}
	root = leakwrap_word_at(memory, class + word);
	return leakwrap_word_at(memory, class) == class &&
	       leakwrap_leads_to_words(memory, root, 2) &&
	       leakwrap_word_at(memory, root) == class &&
	       leakwrap_word_at(memory, root + word) == 0;
}

/* Returns true if the block is an object of Free Pascal, and the pointer leads to one of its
 * interfaces, which begins with the address of its functions.  The object begins with the address
 * of its class, and a class with the size of its objects and the negative size.  The memory manager
 * on top of malloc begins a block with the length of the rest, in a word (FPC 3.2,
 * rtl/inc/objpash.inc, TVmt, and rtl/inc/cmem.pp). */
LEAKWRAP_INLINE bool is_pascal_interface(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word;
	const leakwrap_word head = leakwrap_word_of(in, 0) == in->size - word ? word : 0;
	const leakwrap_word size = in->size - head;
	leakwrap_word class, negative;

	if (in->offset < head + word || leakwrap_words_of_part(in, 1) == 0 ||
	    !is_vtable(memory, leakwrap_word_of_part(in, 0)))
		return false;
	class = leakwrap_word_at(memory, in->block + head);
	if (!leakwrap_leads_to_words(memory, class, 2) ||
	    !memory->is_constant(memory->context, class))
		return false;
	negative = leakwrap_word_at(memory, class + word);
	return leakwrap_word_at(memory, class) == size &&
	       (uint64_t)(negative + size) << (64 - 8 * word) == 0;
}

/* In front of a node's data are its children, in eight bytes each: addresses, or what has the
 * lowest bit set.  In the data are the number of owners, two extents of text and two numbers of 32
 * bits, then that of the children, in 16 bits or in 32 (tree-sitter, lib/src/subtree.h, Subtree and
 * SubtreeHeapData).  An extent is how many bytes, rows, and bytes in the last row the text has. */
#define CHILD_BYTES    8u
#define CHILDREN_READ  4u
#define EXTENT_BYTES   12u
#define CHILDREN_AT    36u
#define NODE_BYTES_MIN 64u

/* Returns whether an extent may be at ADDRESS: the end of each row takes a byte. */
LEAKWRAP_INLINE bool is_extent(const struct leakwrap_memory *memory, leakwrap_word address)
{
	const uint64_t bytes = memory->load(memory->context, address, 4);
	const uint64_t rows = memory->load(memory->context, address + 4, 4);

	return rows + memory->load(memory->context, address + 8, 4) <= bytes;
}

/* Returns whether the block begins with children.  At most CHILDREN_READ of CHILDREN are read. */
LEAKWRAP_INLINE bool begins_with_children(const struct leakwrap_interior *in,
                                          leakwrap_word children)
{
	const struct leakwrap_memory *const memory = in->memory;

	for (leakwrap_word i = 0; i < children && i < CHILDREN_READ; i++) {
		const leakwrap_word child = leakwrap_word_at(memory, in->block + i * CHILD_BYTES);

		if (child % 2 == 0 && !leakwrap_leads_to_words(memory, child, 1))
			return false;
	}
	return true;
}

/* Returns true if the pointer leads to the data of a node of tree-sitter, behind its children. */
LEAKWRAP_INLINE bool is_syntax_node(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word children = in->offset / CHILD_BYTES, data = in->pointer;

	if (in->offset % CHILD_BYTES != 0 || in->size - in->offset < NODE_BYTES_MIN ||
	    !leakwrap_leads_to_words(memory, data, NODE_BYTES_MIN / (unsigned)memory->word))
		return false;
	return (memory->load(memory->context, data + CHILDREN_AT, 4) == children ||
	        memory->load(memory->context, data + CHILDREN_AT, 2) == children) &&
	       memory->load(memory->context, data, 4) != 0 && is_extent(memory, data + 4) &&
	       is_extent(memory, data + 4 + EXTENT_BYTES) && begins_with_children(in, children);
}

LEAKWRAP_INLINE bool is_interior_of_system(const struct leakwrap_interior *in)
{
	return in->memory->has_system &&
	       (is_marked_object(in) || is_plain_base(in) || is_promise(in) || is_boost_stack(in) ||
	        is_behind_openmp_header(in) || is_monotonic_chunk(in) || is_behind_manager(in) ||
	        is_squid_object(in) || is_marked_string(in) || is_in_arena(in) ||
	        is_with_pool(in) || is_repeated_field(in) || is_stb_array(in) || is_stem(in) ||
	        is_second_element(in) || is_list_of_ids(in) || is_array_of_addresses(in) ||
	        is_behind_owners(in) || is_sds(in) || is_hash_table(in) || is_swiss_table(in) ||
	        is_of_glib(in) || is_perl_slab(in) || is_objective_c(in) || is_behind_size(in) ||
	        is_aligned_behind_size(in) || is_tcl_part(in) || is_of_pascal(in) ||
	        is_pascal_interface(in) || is_syntax_node(in) || is_of_abseil(in) ||
	        is_behind_gluster_header(in) || is_of_python(in) || is_of_lua(in) ||
	        is_part_of_lua_table(in) || is_behind_ralloc_header(in) ||
	        is_behind_ta_header(in) || is_behind_header(in) || is_signal_vector(in) ||
	        is_of_php(in) || is_hashed_key(in) || is_chained(in) || is_rcu_node(in));
}

/* -- all rules --------------------------------------------------------------------------------- */

/* Returns whether what the rules read of the block can be read, and its words are aligned: some
 * processors read no others. */
LEAKWRAP_INLINE bool can_decide(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word head = LEAKWRAP_HEAD_WORDS * memory->word, end = in->block + in->size;
	const leakwrap_word cookie = cookie_of(memory);
	const leakwrap_word before = in->offset < cookie ? in->block : in->pointer - cookie;
	const leakwrap_word behind = end - in->pointer < GROUP ? end : in->pointer + GROUP;
	const leakwrap_word tail = in->size < GROUP ? in->size : GROUP;

	return leakwrap_is_multiple(in->block, memory->word) &&
	       memory->is_readable(memory->context, in->block, in->size < head ? in->size : head) &&
	       memory->is_readable(memory->context, before, behind - before) &&
	       memory->is_readable(memory->context, end - tail, tail);
}

/* Returns whether the pointer is a usual way to hold the block, or leads to the end of an empty
 * array.  is_linked_part looks at neighbours alone, so it comes before rules that may follow a long
 * chain (is_rcu_node). */
LEAKWRAP_INLINE bool is_usual(const struct leakwrap_interior *in)
{
	if (in->offset == in->size)
		return true;
	return can_decide(in) &&
	       (is_old_string(in) || is_array(in) || (in->offset == 8 && has_length(in)) ||
	        is_thread_vector(in) || is_behind_talloc_header(in) || is_tree_node(in) ||
	        is_aligned_part(in) || is_part_that_leads_back(in) || is_part_of_object(in) ||
	        is_linked_part(in) || is_interior_of_system(in));
}

#endif
