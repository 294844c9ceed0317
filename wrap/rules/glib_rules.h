/* glib_rules.h - the pointers into a block by which GLib holds it:
 *
 *   - to an instance of GObject, behind its private data
 *   - to a fundamental type, behind what only such types have
 *   - to a GClosure, behind its private data
 *   - to a block with a count of references (g_rc_box_alloc(), g_atomic_rc_box_alloc(),
 *     g_ref_string_new()), behind the count
 *   - to what GTK keeps of the widgets with the same style, with marks in the lowest bits
 *   - to anything in a slab of g_slice_alloc(), from which GLib before 2.76 hands out small blocks
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_GLIB_RULES_H
#define LEAKWRAP_GLIB_RULES_H

#include "wrap/rules/interior_pointer.h"

/* The words of an instance of GObject itself: its class, the number of its references, its data. */
#define INSTANCE_WORDS 3u

/* The words of a type in which the list of its ancestors may begin: the 10th in GLib 2.74. */
#define ANCESTORS_FIRST 6u
#define ANCESTORS_LAST  12u

/* Returns whether ADDRESS is that of a type: it has a list of its ancestors, of which it is the
 * first itself. */
LEAKWRAP_INLINE bool is_glib_type(const struct leakwrap_memory *memory, leakwrap_word address)
{
	if (!leakwrap_leads_to_words(memory, address, ANCESTORS_LAST + 1))
		return false;
	for (unsigned i = ANCESTORS_FIRST; i <= ANCESTORS_LAST; i++)
		if (leakwrap_word_at(memory, address + i * memory->word) == address)
			return true;
	return false;
}

/* An instance of GObject begins with the address of its class, the class with the address of its
 * type (GLib, gobject/gtype.h, struct _GTypeInstance and _GTypeClass; gobject/gtype.c, struct
 * _TypeNode). */
LEAKWRAP_INLINE bool is_glib_object(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word;
	leakwrap_word class;

	if (!leakwrap_is_multiple(in->pointer, word) ||
	    in->size - in->offset < INSTANCE_WORDS * word)
		return false;
	class = leakwrap_word_at(memory, in->pointer);
	return leakwrap_leads_to_words(memory, class, 1) &&
	       is_glib_type(memory, leakwrap_word_at(memory, class));
}

/* The numbers of fundamental types are multiples of 4 up to this one (G_TYPE_FUNDAMENTAL_MAX), and
 * their flags are less than 16. */
#define TYPE_MAX   (255u << 2)
#define TYPE_FLAGS 15u

/* The flags of a fundamental type stand in front of it.  The list of its ancestors ends the block:
 * its own number, and a zero (gobject/gtype.c, type_node_any_new_W). */
LEAKWRAP_INLINE bool is_fundamental_type(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word, end = in->block + in->size;
	leakwrap_word number;

	if (in->offset != word || !leakwrap_is_multiple(in->size, word) ||
	    in->size < (ANCESTORS_FIRST + 3) * word || in->size > (ANCESTORS_LAST + 3) * word)
		return false;
	number = leakwrap_word_at(in->memory, end - 2 * word);
	return leakwrap_word_of(in, 0) <= TYPE_FLAGS && number > 0 && number % 4 == 0 &&
	       number <= TYPE_MAX && leakwrap_word_at(in->memory, end - word) == 0;
}

/* The words in front of a closure, and those that each has itself. */
#define CLOSURE_PRIVATE 4u
#define CLOSURE_WORDS   4u

/* In front of a closure are the address of code, its data, and the addresses of code twice, of
 * which each may be missing.  The closure begins with 32 bits, of which 15 are the number of its
 * references, and the address of code (gobject/gclosure.c, GRealClosure; gobject/gclosure.h, struct
 * _GClosure). */
LEAKWRAP_INLINE bool is_closure(const struct leakwrap_interior *in)
{
	static const uint8_t missing[] = {0, 2, 3};
	const struct leakwrap_memory *const memory = in->memory;
	leakwrap_word first;

	if (in->offset != CLOSURE_PRIVATE * memory->word ||
	    in->size < (CLOSURE_PRIVATE + CLOSURE_WORDS) * memory->word)
		return false;
	first = leakwrap_word_of(in, CLOSURE_PRIVATE);
	if ((first & 0x7fff) == 0 || first >> 16 >> 16 != 0 ||
	    !memory->is_code(memory->context, leakwrap_word_of(in, CLOSURE_PRIVATE + 1)))
		return false;
	for (unsigned i = 0; i < sizeof(missing); i++) {
		const leakwrap_word code = leakwrap_word_of(in, missing[i]);

		if (code != 0 && !memory->is_code(memory->context, code))
			return false;
	}
	return true;
}

/* The words in front of a block with a count of references. */
#define BOX_WORDS 4u

/* In front of a block with a count of references are the count in 32 bits, the size that was asked
 * for, which was rounded up, and a zero (glib/grcboxprivate.h, struct _GRcBox; glib/grcbox.c,
 * g_rc_box_alloc_full). */
LEAKWRAP_INLINE bool is_counted_box(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word head = BOX_WORDS * memory->word, rest = in->size - head;
	leakwrap_word asked;

	if (in->offset != head || memory->load(memory->context, in->block, 4) == 0)
		return false;
	asked = leakwrap_word_of(in, 1);
	return asked <= rest && rest - asked < 2 * memory->word && leakwrap_word_of(in, 2) == 0;
}

/* A slab lacks two words to a power of two, to which it is aligned.  It ends with four words about
 * itself, of which the last two lead to these words of the next and the last slab in a ring
 * (glib/gslice.c, allocator_add_slab and struct _SlabInfo). */
LEAKWRAP_INLINE bool is_glib_slab(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, page = in->size + 2 * word;
	const leakwrap_word about = in->block + in->size - 4 * word;
	leakwrap_word next, last;

	if ((page & (page - 1)) != 0 || !leakwrap_is_multiple(in->block, page) ||
	    in->size < 8 * word || !leakwrap_leads_to_words(memory, about, 4))
		return false;
	next = leakwrap_word_at(memory, about + 2 * word);
	last = leakwrap_word_at(memory, about + 3 * word);
	return leakwrap_leads_to_words(memory, next, 4) &&
	       leakwrap_leads_to_words(memory, last, 4) &&
	       leakwrap_word_at(memory, next + 3 * word) == about &&
	       leakwrap_word_at(memory, last + 2 * word) == about;
}

/* The marks in the lowest bits of a pointer to a description: whether its widget is the first and
 * the last one among its siblings. */
#define SIBLING_MARKS 3u

/* Returns whether the pointer leads to what GTK keeps of the widgets with the same style, and has
 * marks.  The block has the number of its owners and one more number, in 32 bits each, the type of
 * the widgets, the addresses of two names, and three numbers of 32 bits: the state, how many
 * classes of style follow, in 32 bits each, and how many regions (GTK 3.24,
 * gtk/gtkcssnodedeclaration.c, struct _GtkCssNodeDeclaration, and gtk/gtkcssnodestylecache.c,
 * PACK).  A block with regions is not known: regions are deprecated. */
LEAKWRAP_INLINE bool is_gtk_declaration(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, numbers = in->block + 8 + 3 * word;
	const leakwrap_word head = 8 + 3 * word + (word == 8 ? 16 : 12);
	uint64_t owners;

	if (in->offset > SIBLING_MARKS || in->size < head)
		return false;
	owners = memory->load(memory->context, in->block, 4);
	return owners > 0 && owners <= INT32_MAX &&
	       memory->load(memory->context, numbers + 4, 4) * 4 == in->size - head &&
	       memory->load(memory->context, numbers + 8, 4) == 0 &&
	       is_glib_type(memory, leakwrap_word_at(memory, in->block + 8));
}

LEAKWRAP_INLINE bool is_of_glib(const struct leakwrap_interior *in)
{
	return is_glib_object(in) || is_fundamental_type(in) || is_closure(in) ||
	       is_counted_box(in) || is_glib_slab(in) || is_gtk_declaration(in);
}

#endif
