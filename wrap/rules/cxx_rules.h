/* cxx_rules.h - how programs in C++ hold blocks by pointers into them:
 *
 *   - strings of libstdc++, and blocks behind a 64-bit length
 *   - objects with vtables, their parts, and their bases without vtables
 *   - coroutines, stacks of Boost, and blocks of std::pmr::monotonic_buffer_resource
 *   - objects of Xerces-C and of Squid
 *   - strings, arenas and repeated fields of Protocol Buffers
 *   - vectors of connections of Qt
 *
 * For interior_rules.h.  array_rules.h knows the arrays.
 */
#ifndef LEAKWRAP_CXX_RULES_H
#define LEAKWRAP_CXX_RULES_H

#include "wrap/rules/interior_pointer.h"

LEAKWRAP_INLINE bool is_old_string(const struct leakwrap_interior *in)
{
	const leakwrap_word head = 3 * in->memory->word;
	leakwrap_word capacity;

	if (in->offset != head || in->size <= head)
		return false;
	capacity = leakwrap_word_of(in, 1);
	return leakwrap_word_of(in, 0) <= capacity && capacity == in->size - head - 1;
}

/* Returns whether the block begins with a 64-bit length, of the rest or of all (Berkeley DB 5.3,
 * src/env/env_alloc.c). */
LEAKWRAP_INLINE bool has_length(const struct leakwrap_interior *in)
{
	uint64_t length;

	if (in->size <= 8)
		return false;
	length = in->memory->load(in->memory->context, in->block, 8);
	return length == in->size - 8 || (in->memory->has_system && length == in->size);
}

/* A vtable's functions begin where an object points.  Pure virtual tables may begin with zeros. */
#define VTABLE_WORDS 20u

/* Returns whether ADDRESS may be a vtable: constant data of a module, in which the address of code
 * follows soon. */
LEAKWRAP_INLINE bool is_vtable(const struct leakwrap_memory *memory, leakwrap_word address)
{
	if (!leakwrap_is_multiple(address, memory->word) ||
	    !memory->is_constant(memory->context, address))
		return false;
	for (unsigned i = 0; i < VTABLE_WORDS && leakwrap_leads_to_words(memory, address, 1); i++) {
		const leakwrap_word word = leakwrap_word_at(memory, address);

		if (memory->is_code(memory->context, word))
			return true;
		if (word != 0)
			return false;
		address += memory->word;
	}
	return false;
}

/* Bytes in front of an object of Xerces-C: the address of its memory manager, aligned for a
 * double. */
#define MANAGER_BYTES 8u

/* Returns whether ADDRESS is that of an object outside of the block, which has a vtable. */
LEAKWRAP_INLINE bool is_other_object(const struct leakwrap_interior *in, leakwrap_word address)
{
	return address - in->block >= in->size && leakwrap_leads_to_words(in->memory, address, 1) &&
	       is_vtable(in->memory, leakwrap_word_at(in->memory, address));
}

/* Returns whether the block may be an array of addresses of objects.  It begins with FIRST, which
 * is such an address.  The words behind it are others, or 0, and at least one is not 0. */
LEAKWRAP_INLINE bool is_array_of_objects(const struct leakwrap_interior *in, leakwrap_word first)
{
	bool has_other = false;

	for (unsigned i = 1; i < LEAKWRAP_HEAD_WORDS && (i + 1) * in->memory->word <= in->size;
	     i++) {
		const leakwrap_word word = leakwrap_word_of(in, i);

		if (word == first || (word != 0 && !is_other_object(in, word)))
			return false;
		has_other |= word != 0;
	}
	return has_other;
}

/* Returns whether the block begins with the address of another object, which has a vtable.  So do
 * the objects of Xerces-C, which keep their memory manager in front of themselves (3.2,
 * src/xercesc/util/XMemory.cpp, operator new).  Many have the manager among their members, too. */
LEAKWRAP_INLINE bool has_manager(const struct leakwrap_interior *in)
{
	const leakwrap_word manager = leakwrap_word_of(in, 0);

	return in->memory->has_system && in->size > MANAGER_BYTES && is_other_object(in, manager) &&
	       !is_array_of_objects(in, manager);
}

LEAKWRAP_INLINE bool is_behind_manager(const struct leakwrap_interior *in)
{
	return in->offset == MANAGER_BYTES && has_manager(in);
}

/* Squid keeps the block's address in front of an object, with these bits inverted. */
#define SQUID_COOKIE ((leakwrap_word)0xdeadbeef)

/* Bytes in front of an object of Squid that callbacks are given: whether it is valid, the number of
 * its locks and its type, in 32 bits each, and the block's address with inverted bits (5.7,
 * src/cbdata.cc, class cbdata). */
LEAKWRAP_INLINE leakwrap_word squid_bytes(const struct leakwrap_interior *in)
{
	return 16 + (in->memory->word == 8 ? 8 : 0);
}

LEAKWRAP_INLINE bool is_squid_block(const struct leakwrap_interior *in)
{
	const leakwrap_word bytes = squid_bytes(in);

	return in->memory->has_system && in->size >= bytes + in->memory->word &&
	       leakwrap_word_at(in->memory, in->block + bytes - in->memory->word) ==
	               (in->block ^ SQUID_COOKIE);
}

LEAKWRAP_INLINE bool is_squid_object(const struct leakwrap_interior *in)
{
	return in->offset == squid_bytes(in) && is_squid_block(in);
}

/* Returns whether an object with a vtable begins the block, or is behind what Xerces-C or Squid
 * keep in front of it. */
LEAKWRAP_INLINE bool has_object(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;

	return is_vtable(memory, leakwrap_word_of(in, 0)) ||
	       (has_manager(in) &&
	        is_vtable(memory, leakwrap_word_at(memory, in->block + MANAGER_BYTES))) ||
	       (is_squid_block(in) &&
	        is_vtable(memory, leakwrap_word_at(memory, in->block + squid_bytes(in))));
}

/* Returns whether the pointer leads to a part of an object that has a vtable of its own. */
LEAKWRAP_INLINE bool is_part_of_object(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;

	return leakwrap_is_multiple(in->pointer, memory->word) &&
	       in->size - in->offset >= memory->word &&
	       is_vtable(memory, leakwrap_word_at(memory, in->pointer)) && has_object(in);
}

/* Returns whether the pointer leads to the first byte of an object with a vtable, and has marks in
 * the lowest bits, as Boost.JSON has in pointers to shared resources (1.81,
 * boost/json/storage_ptr.hpp) and LLVM's PointerIntPair. */
LEAKWRAP_INLINE bool is_marked_object(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;

	return in->offset < word && in->size >= word &&
	       is_vtable(in->memory, leakwrap_word_of(in, 0));
}

/* Returns whether the pointer leads behind the address of the vtable with which the object begins.
 * The first base class without virtual functions lies there, and a program may hold the object by
 * it, as Squid's table of stored objects does (5.7, src/Store.h, class StoreEntry). */
LEAKWRAP_INLINE bool is_plain_base(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;

	return in->offset == word && in->size >= 2 * word &&
	       is_vtable(in->memory, leakwrap_word_of(in, 0));
}

/* How far the functions of a coroutine are from each other at most.  The compiler makes both of
 * them when it compiles the coroutine. */
#define COROUTINE_CODE_MAX ((leakwrap_word)1 << 20)

/* Returns whether the pointer leads to the promise of a coroutine, behind the addresses of the
 * functions that resume and destroy the coroutine.  A scheduler may have no other pointer to it.
 * If the address of a third function follows, the block is a table of functions. */
LEAKWRAP_INLINE bool is_promise(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word resume, destroy;

	if (in->offset != 2 * memory->word || in->size < 3 * memory->word)
		return false;
	resume = leakwrap_word_of(in, 0);
	destroy = leakwrap_word_of(in, 1);
	return resume != destroy &&
	       destroy - resume + COROUTINE_CODE_MAX <= 2 * COROUTINE_CODE_MAX &&
	       memory->is_code(memory->context, resume) &&
	       memory->is_code(memory->context, destroy) &&
	       !memory->is_code(memory->context, leakwrap_word_of(in, 2));
}

/* Boost.Context begins its record of a fiber at the last multiple of this number that leaves enough
 * of the stack behind it. */
#define FIBER_ALIGNMENT 256u

/* How many such addresses are looked at. */
#define FIBER_PLACES 16u

/* Returns whether the block's size and the address of its end are at ADDRESS. */
LEAKWRAP_INLINE bool has_extent_at(const struct leakwrap_interior *in, leakwrap_word address)
{
	const struct leakwrap_memory *const memory = in->memory;

	return leakwrap_leads_to_words(memory, address, 2) &&
	       leakwrap_word_at(memory, address) == in->size &&
	       leakwrap_word_at(memory, address + memory->word) == in->block + in->size;
}

/* Returns whether the block is the stack of a fiber or a coroutine of Boost.  It holds its own size
 * and the address of its end: in its last three words (Boost.Coroutine,
 * detail/pull_coroutine_object.hpp), or at the start of the record of a fiber (Boost.Context,
 * fiber_fcontext.hpp, fiber_record).  The program has a pointer to something near the end, or to
 * where the stack was left. */
LEAKWRAP_INLINE bool is_boost_stack(const struct leakwrap_interior *in)
{
	const leakwrap_word end = in->block + in->size;
	leakwrap_word record = end & ~(leakwrap_word)(FIBER_ALIGNMENT - 1);

	if (in->size < (leakwrap_word)FIBER_ALIGNMENT * FIBER_PLACES)
		return false;
	if (has_extent_at(in, end - 3 * in->memory->word))
		return true;
	for (unsigned i = 0; i < FIBER_PLACES; i++, record -= FIBER_ALIGNMENT)
		if (end - record >= 2 * in->memory->word && has_extent_at(in, record))
			return true;
	return false;
}

/* The size of a block of std::pmr::monotonic_buffer_resource is a multiple of 64.  These bits of it
 * are the logarithm of the block's alignment. */
#define CHUNK_ALIGN_BITS 63u

/* Returns whether the pointer leads to the last two words of a block of
 * std::pmr::monotonic_buffer_resource: its size and the address of such words in the block before
 * it.  The resource has no other pointer to the block (libstdc++-v3/src/c++17/memory_resource.cc,
 * monotonic_buffer_resource::_Chunk). */
LEAKWRAP_INLINE bool is_monotonic_chunk(const struct leakwrap_interior *in)
{
	const leakwrap_word rest = in->size - in->offset;
	leakwrap_word before;

	if (rest != 2 * in->memory->word || leakwrap_words_of_part(in, 2) != 2 ||
	    (leakwrap_word_of_part(in, 0) & ~(leakwrap_word)CHUNK_ALIGN_BITS) != in->size)
		return false;
	before = leakwrap_word_of_part(in, 1);
	return before == 0 || leakwrap_leads_to_words(in->memory, before, 2);
}

/* Returns whether the block may be a std::string of libstdc++'s present ABI, to which a pointer
 * leads with marks.  The string has the address of the characters, their number, and 16 bytes, in
 * which they are or their capacity is.  Protocol Buffers keep marks in the two lowest bits of a
 * string's address (src/google/protobuf/arenastring.h, class TaggedStringPtr). */
LEAKWRAP_INLINE bool is_marked_string(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;
	leakwrap_word characters, length, capacity;

	if (in->offset > 3 || in->size != 2 * word + 16)
		return false;
	characters = leakwrap_word_of(in, 0);
	length = leakwrap_word_of(in, 1);
	capacity = leakwrap_word_of(in, 2);
	if (characters == in->block + 2 * word)
		return length < 16;
	return characters != 0 && length <= capacity && capacity >= 16 &&
	       capacity >> (8 * word - 1) == 0;
}

/* Words at the start of an arena's oldest block: no block before it, its size, and in some versions
 * one more. */
#define ARENA_WORDS 3u

/* Returns true if the pointer leads behind the start of the oldest block of an arena of Protocol
 * Buffers (src/google/protobuf/arena_impl.h, struct Block). */
LEAKWRAP_INLINE bool is_in_arena(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word, offset = in->offset;

	if (offset < 2 * word || offset > ARENA_WORDS * word + 4 || offset % 8 != 0 ||
	    in->size < LEAKWRAP_HEAD_WORDS * word || leakwrap_word_of(in, 0) != 0)
		return false;
	return leakwrap_word_of(in, 1) == in->size ||
	       (offset >= ARENA_WORDS * word && leakwrap_word_of(in, 2) == in->size);
}

/* Returns whether the pointer is that of a repeated field of Protocol Buffers, to its elements.  In
 * front of the pointer stand the number of elements and the room for them, in 32 bits each.  In
 * front of the elements stands the address of the arena, which is 0 if the field is in none (3.21,
 * src/google/protobuf/repeated_field.h, RepeatedField and Rep). */
LEAKWRAP_INLINE bool is_repeated_field(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word rest = in->size - in->offset;
	uint64_t room;

	if ((in->offset != memory->word && in->offset != 8) || in->place < 8 ||
	    !leakwrap_is_multiple(in->place, memory->word) ||
	    memory->load(memory->context, in->block, (unsigned)in->offset) != 0 ||
	    !memory->is_readable(memory->context, in->place - 8, 8))
		return false;
	room = memory->load(memory->context, in->place - 4, 4);
	return room != 0 && memory->load(memory->context, in->place - 8, 4) <= room &&
	       (rest == room || rest == 4 * room || rest == 8 * room);
}

/* Vectors have room for a multiple of this many lists of connections. */
#define SIGNALS_STEP 8u

/* Returns whether the block may be a vector of lists of connections of Qt, and the pointer leads to
 * its second byte: an object has a larger vector now, and holds the old vector by a pointer with a
 * mark.  The vector begins with the address of another vector with a mark, with the address of a
 * connection, or with 0.  Then come the number of signals and, for each signal and one more, the
 * addresses of the first and the last connection (Qt 5.14 to 6, src/corelib/kernel/qobject_p_p.h,
 * struct QObjectPrivate::SignalVector). */
LEAKWRAP_INLINE bool is_signal_vector(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, pair = 2 * word;
	leakwrap_word next, signals;

	if (in->offset != 1 || in->size < 3 * pair || in->size % pair != 0)
		return false;
	next = leakwrap_word_of(in, 0) & ~(leakwrap_word)1;
	signals = leakwrap_word_of(in, 1);
	if (signals % SIGNALS_STEP != 0 || signals != in->size / pair - 2 ||
	    (next != 0 && !leakwrap_leads_to_words(memory, next, 2)))
		return false;
	for (unsigned i = 2; i + 1 < LEAKWRAP_HEAD_WORDS; i += 2) {
		const leakwrap_word first = leakwrap_word_of(in, i);
		const leakwrap_word last = leakwrap_word_of(in, i + 1);

		if ((first == 0) != (last == 0) ||
		    (first != 0 && !(leakwrap_leads_to_words(memory, first, 2) &&
		                     leakwrap_leads_to_words(memory, last, 2))))
			return false;
	}
	return true;
}

#endif
