/* header_rules.h - blocks that are held by a pointer behind a header of a library:
 *
 *   - the elements of an object of SpiderMonkey
 *   - a vector of NTL
 *   - a language of Pango
 *   - what Z3 allocates
 *   - the bytes of a message of libcoap
 *   - an object of VLC
 *   - what libcap allocates
 *   - the room in which SQLite formats a row
 *   - the bytes of a message of nanomsg
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_HEADER_RULES_H
#define LEAKWRAP_HEADER_RULES_H

#include "wrap/rules/cxx_rules.h"
#include "wrap/rules/interior_pointer.h"

/* In front of an object's elements, which have 64 bits each, are four numbers of 32 bits: marks,
 * how many elements have values, for how many there is room, and the length of an array, or 0.  The
 * program may have removed the first elements.  How many is in the upper bits of the marks, and the
 * header has moved behind them (Firefox 102, js/src/vm/NativeObject.h, class ObjectElements).  With
 * its header there is room for eight at least (SLOT_CAPACITY_MIN).  The lowest mark is for elements
 * that have no block, and a few others follow.  The header of an emptied array is not known: it has
 * one number. */
#define ELEMENT_BYTES    8u
#define ELEMENT_HEADER   16u
#define ELEMENTS_MIN     6u
#define REMOVED_SHIFT    21u
#define MARKS_OF_A_BLOCK 0xfeu

LEAKWRAP_INLINE bool is_behind_element_header(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word header = in->pointer - ELEMENT_HEADER;
	const leakwrap_word room = (in->size - in->offset) / ELEMENT_BYTES;
	const leakwrap_word removed = in->offset / ELEMENT_BYTES - 2;
	uint64_t marks, used, length;

	if (in->offset < ELEMENT_HEADER || in->offset % ELEMENT_BYTES != 0 ||
	    in->size % ELEMENT_BYTES != 0 || room + removed < ELEMENTS_MIN ||
	    !memory->is_readable(memory->context, header, ELEMENT_HEADER) ||
	    memory->load(memory->context, header + 8, 4) != room)
		return false;
	marks = memory->load(memory->context, header, 4);
	used = memory->load(memory->context, header + 4, 4);
	length = memory->load(memory->context, header + 12, 4);
	return (marks & ~(uint64_t)MARKS_OF_A_BLOCK) == (uint64_t)removed << REMOVED_SHIFT &&
	       used <= room && used + length > 0 && (length == 0 || length >= used);
}

/* In front of the elements of a vector are four words: its length, for how many elements there is
 * room, how many were made, and whether its length is fixed.  There is room for a multiple of four
 * (NTL 11.5, include/NTL/vector.h, struct _ntl_VectorHeader and NTL_VectorMinAlloc).  The size of
 * an element is a multiple of that of an int.  Vectors of smaller elements are not known: their
 * numbers are common. */
#define VECTOR_WORDS   4u
#define VECTOR_STEP    4u
#define VECTOR_ELEMENT 4u

LEAKWRAP_INLINE bool is_ntl_vector(const struct leakwrap_interior *in)
{
	const leakwrap_word rest = in->size - in->offset;
	leakwrap_word room, made;

	if (in->offset != VECTOR_WORDS * in->memory->word)
		return false;
	room = leakwrap_word_of(in, 1);
	made = leakwrap_word_of(in, 2);
	return room != 0 && room % VECTOR_STEP == 0 && rest % room == 0 &&
	       rest / room % VECTOR_ELEMENT == 0 && made <= room &&
	       leakwrap_word_of(in, 0) <= made && leakwrap_word_of(in, 3) <= 1;
}

/* In front of a vector of words are the room for them, a multiple of four, with a mark below the
 * lowest bit, and their number (NTL 11.5, include/NTL/WordVector.h and src/WordVector.cpp,
 * NTL_WordVectorMinAlloc). */
LEAKWRAP_INLINE bool is_ntl_words(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word, rest = in->size - in->offset;
	const leakwrap_word room = leakwrap_word_of(in, 0) / 2;

	return in->offset == 2 * word && room % VECTOR_STEP == 0 &&
	       leakwrap_is_multiple(rest, word) && room == rest / word &&
	       leakwrap_word_of(in, 1) <= room;
}

/* In front of the name of a language are two addresses, and a mark of 32 bits (Pango 1.50,
 * pango/pango-language.c, PangoLanguagePrivate). */
#define LANGUAGE_WORDS 3u
#define LANGUAGE_MARK  0x0be4dad0u

LEAKWRAP_INLINE bool is_pango_language(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;

	return in->offset == LANGUAGE_WORDS * word &&
	       in->memory->load(in->memory->context, in->block + 2 * word, 4) == LANGUAGE_MARK;
}

/* A block of Z3 begins with its own size (4.8, src/util/memory_manager.cpp, memory::allocate).
 * Behind the size may be the header of a vector or of a list of watches:
 *
 *   - the room for elements, and their number, in 32 bits each (src/util/vector.h)
 *   - with 64 bits 32 bits that align the rest, then where the clauses end, where the literals
 *     begin, and for how many bytes there is room, in 32 bits each (src/smt/watch_list.cpp) */
#define WATCHES_BYTES 12u

/* Returns whether a vector of Z3 has REST bytes for its elements. */
LEAKWRAP_INLINE bool is_z3_vector(const struct leakwrap_interior *in, leakwrap_word rest)
{
	const struct leakwrap_memory *const memory = in->memory;
	const uint64_t room = memory->load(memory->context, in->pointer - 8, 4);

	return room != 0 && rest % room == 0 &&
	       memory->load(memory->context, in->pointer - 4, 4) <= room;
}

/* Returns whether a list of watches has REST bytes. */
LEAKWRAP_INLINE bool is_z3_watches(const struct leakwrap_interior *in, leakwrap_word rest)
{
	const struct leakwrap_memory *const memory = in->memory;
	const uint64_t literals = memory->load(memory->context, in->pointer - 8, 4);

	return memory->load(memory->context, in->pointer - 4, 4) == rest && literals <= rest &&
	       memory->load(memory->context, in->pointer - WATCHES_BYTES, 4) <= literals;
}

LEAKWRAP_INLINE bool is_of_z3(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word, rest = in->size - in->offset;
	const leakwrap_word watches = word == 8 ? WATCHES_BYTES + 4 : WATCHES_BYTES;

	return (in->offset == word || (in->offset == word + 8 && is_z3_vector(in, rest)) ||
	        (in->offset == word + watches && is_z3_watches(in, rest))) &&
	       leakwrap_word_of(in, 0) == in->size;
}

/* In front of the bytes of a message is room for the header of UDP or TCP.  The program has their
 * address in the message.  There three words stand in front of it: for how many bytes there is
 * room, how many are used, and the most that may be, or 0.  Before these, the room for the header
 * is in a byte.  A program may not use all the room (libcoap 4.3,
 * include/coap3/coap_pdu_internal.h, struct coap_pdu_t, and src/pdu.c, coap_pdu_resize). */
#define UDP_HEADER    4u
#define TCP_HEADER    6u
#define MESSAGE_WORDS 3u

LEAKWRAP_INLINE bool is_of_message(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, rest = in->size - in->offset;
	const leakwrap_word numbers = in->place - MESSAGE_WORDS * word, header = numbers - word - 4;
	leakwrap_word room, most;

	if ((in->offset != UDP_HEADER && in->offset != TCP_HEADER) ||
	    !leakwrap_leads_to_words(memory, numbers, MESSAGE_WORDS) ||
	    !memory->is_readable(memory->context, header, 1) ||
	    memory->load(memory->context, header, 1) != in->offset)
		return false;
	room = leakwrap_word_at(memory, numbers);
	most = leakwrap_word_at(memory, numbers + 2 * word);
	return room > 0 && room <= rest && leakwrap_word_at(memory, numbers + word) <= room &&
	       (rest <= most || most == 0);
}

/* In front of an object are the address of the next sibling's private part, the previous one's and
 * the first child's, at most this many words before the object.  The latter begins with the
 * address of its type's name, which is constant, and has that of its parent's object among its
 * first words (VLC 3.0, src/misc/variables.h, struct vlc_object_internals, and
 * include/vlc_common.h, struct vlc_common_members). */
#define VLC_WORDS_AT_FIRST    12u
#define VLC_OBJECT_WORDS      6u
#define VLC_PRIVATE_WORDS_MAX 64u

/* Returns whether the words at OBJECT can be read, and begin with an address of constant data. */
LEAKWRAP_INLINE bool has_name_of_type(const struct leakwrap_memory *memory, leakwrap_word object)
{
	return leakwrap_leads_to_words(memory, object, VLC_OBJECT_WORDS) &&
	       memory->is_constant(memory->context, leakwrap_word_at(memory, object));
}

/* Returns whether the object at CHILD leads to the object to which the pointer leads. */
LEAKWRAP_INLINE bool has_parent(const struct leakwrap_interior *in, leakwrap_word child)
{
	for (unsigned i = 1; i < VLC_OBJECT_WORDS; i++)
		if (leakwrap_word_at(in->memory, child + i * in->memory->word) == in->pointer)
			return true;
	return false;
}

/* Returns whether the pointer leads to an object that has a child.  The program's root object is
 * held so: others lead to its parts alone. */
LEAKWRAP_INLINE bool is_vlc_object(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, words = in->offset / word;

	if (words <= VLC_WORDS_AT_FIRST || words > VLC_PRIVATE_WORDS_MAX ||
	    !has_name_of_type(memory, in->pointer) ||
	    !leakwrap_leads_to_words(memory, in->pointer - VLC_WORDS_AT_FIRST * word,
	                             VLC_WORDS_AT_FIRST))
		return false;
	for (unsigned number = 1; number <= VLC_WORDS_AT_FIRST; number++) {
		const leakwrap_word first = leakwrap_word_at(memory, in->pointer - number * word);

		if (first - in->block >= in->size && has_name_of_type(memory, first + in->offset) &&
		    has_parent(in, first + in->offset))
			return true;
	}
	return false;
}

/* In front of a set of capabilities, of its text and of the other objects of libcap are a mark and
 * the size of the whole block, in 32 bits each (2.66, libcap/cap_alloc.c, struct _cap_alloc_s, and
 * libcap/libcap.h). */
#define LIBCAP_HEADER      8u
#define LIBCAP_SET         0xca90d0u
#define LIBCAP_TEXT        0xca95d0u
#define LIBCAP_INHERITABLE 0xca91abu
#define LIBCAP_LAUNCHER    0xca91acu

LEAKWRAP_INLINE bool is_of_libcap(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	uint64_t mark;

	if (in->offset != LIBCAP_HEADER ||
	    memory->load(memory->context, in->block + 4, 4) != in->size)
		return false;
	mark = memory->load(memory->context, in->block, 4);
	return mark == LIBCAP_SET || mark == LIBCAP_TEXT || mark == LIBCAP_INHERITABLE ||
	       mark == LIBCAP_LAUNCHER;
}

/* SQLite formats a row behind the first four bytes of a block that is as large as a page: there the
 * number of another page may come.  SQLite may have allocated the block behind a 64-bit length.  In
 * front of the pointer, in the same structure, are the size of a page, which is a power of two, and
 * how many bytes of it are used, all but 255 at most, in 32 bits each (SQLite 3.40, src/btree.c,
 * allocateTempSpace, src/btreeInt.h, struct BtShared, and src/mem1.c). */
#define ROW_PREFIX    4u
#define PAGE_MIN      512u
#define PAGE_MAX      65536u
#define PAGE_RESERVED 255u
#define BTREE_MAX     512u

/* Returns whether the size of a page, and how much of it is used, stand in front of the pointer. */
LEAKWRAP_INLINE bool is_in_btree(const struct leakwrap_interior *in, leakwrap_word page)
{
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word block, size;

	if (!memory->find_block(memory->context, in->place, &block, &size) || size > BTREE_MAX ||
	    !leakwrap_is_multiple(block, 4) ||
	    !memory->is_readable(memory->context, block, in->place - block))
		return false;
	for (leakwrap_word at = block; at + 8 <= in->place; at += 4)
		if (memory->load(memory->context, at, 4) == page &&
		    page - memory->load(memory->context, at + 4, 4) <= PAGE_RESERVED)
			return true;
	return false;
}

LEAKWRAP_INLINE bool is_room_for_row(const struct leakwrap_interior *in)
{
	const leakwrap_word page = in->size - in->offset + ROW_PREFIX;

	return (in->offset == ROW_PREFIX || (in->offset == 8 + ROW_PREFIX && has_length(in))) &&
	       page >= PAGE_MIN && page <= PAGE_MAX && (page & (page - 1)) == 0 &&
	       is_in_btree(in, page);
}

/* A message of nanomsg has three words: the number of its owners, its size, and the function that
 * frees it.  Bytes that were taken away may follow.  In front of the bytes that are left are the
 * number of the former and a mark, in 32 bits each, highest byte first (1.1.5, src/utils/chunk.c,
 * struct nn_chunk and NN_CHUNK_TAG). */
#define NANOMSG_WORDS 3u
#define NANOMSG_MARK  0xfecaaddeu

/* Returns the number of 32 bits at ADDRESS, which begins with its highest byte. */
LEAKWRAP_INLINE uint32_t highest_first(const struct leakwrap_memory *memory, leakwrap_word address)
{
	return __builtin_bswap32((uint32_t)memory->load(memory->context, address, 4));
}

LEAKWRAP_INLINE bool is_of_nanomsg(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word head = NANOMSG_WORDS * memory->word + 8;

	return in->offset >= head && memory->is_readable(memory->context, in->pointer - 8, 8) &&
	       memory->load(memory->context, in->pointer - 4, 4) == NANOMSG_MARK &&
	       highest_first(memory, in->pointer - 8) == in->offset - head &&
	       memory->is_code(memory->context, leakwrap_word_of(in, NANOMSG_WORDS - 1));
}

LEAKWRAP_INLINE bool is_behind_header(const struct leakwrap_interior *in)
{
	return is_behind_element_header(in) || is_ntl_vector(in) || is_ntl_words(in) ||
	       is_pango_language(in) || is_of_z3(in) || is_of_message(in) || is_vlc_object(in) ||
	       is_of_libcap(in) || is_room_for_row(in) || is_of_nanomsg(in);
}

#endif
