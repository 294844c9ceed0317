/* glib_parts.c - see glib_parts.h. */
#include "wrap/reach/glib_parts.h"

#include "wrap/module/modules.h"
#include "wrap/unwind/stack_bounds.h"

#define WORD sizeof(uintptr_t)

/* The word NUMBER of the memory at ADDRESS. */
static uintptr_t word_of(uintptr_t address, size_t number)
{
	return leakwrap_stack_word(address + number * WORD);
}

/* An instance of GObject itself: its class, the number of its references, and its data. */
#define INSTANCE_MIN (3 * WORD)

/* The words of a type in which the list of its ancestors may begin: the 10th in GLib 2.74. */
#define ANCESTORS_FIRST 6u
#define ANCESTORS_LAST  12u

/* An instance of GObject begins with the address of its class, the class with the address of its
 * type, and the type has a list of its ancestors, of which it is the first itself (GLib,
 * gobject/gtype.h, struct _GTypeInstance and _GTypeClass; gobject/gtype.c, struct _TypeNode). */
static bool is_object(uintptr_t block, size_t size, uintptr_t pointer,
                      leakwrap_is_readable *is_readable)
{
	uintptr_t class, type;

	if (pointer % WORD != 0 || block + size - pointer < INSTANCE_MIN)
		return false;
	class = leakwrap_stack_word(pointer);
	if (class == 0 || class % WORD != 0 || !is_readable(class, WORD))
		return false;
	type = leakwrap_stack_word(class);
	if (type == 0 || type % WORD != 0 || !is_readable(type, (ANCESTORS_LAST + 1) * WORD))
		return false;
	for (unsigned i = ANCESTORS_FIRST; i <= ANCESTORS_LAST; i++)
		if (word_of(type, i) == type)
			return true;
	return false;
}

/* The numbers of fundamental types are multiples of 4 up to this one (G_TYPE_FUNDAMENTAL_MAX), and
 * their flags are less than 16. */
#define TYPE_MAX   (255u << 2)
#define TYPE_FLAGS 15u

/* The flags of a fundamental type stand in front of it.  The list of its ancestors ends the block:
 * its own number, and a zero (gobject/gtype.c, type_node_any_new_W). */
static bool is_fundamental_type(uintptr_t block, size_t size, leakwrap_is_readable *is_readable)
{
	const size_t words = size / WORD;
	uintptr_t number;

	if (size % WORD != 0 || words < ANCESTORS_FIRST + 3 || words > ANCESTORS_LAST + 3 ||
	    !is_readable(block, size))
		return false;
	number = word_of(block, words - 2);
	return word_of(block, 0) <= TYPE_FLAGS && number > 0 && number % 4 == 0 &&
	       number <= TYPE_MAX && word_of(block, words - 1) == 0;
}

static bool is_code(uintptr_t address)
{
	const struct leakwrap_module *const module = leakwrap_module_at(address);

	return module && leakwrap_module_text(module, address);
}

/* The words in front of a closure, and those that each has itself. */
#define CLOSURE_PRIVATE 4u
#define CLOSURE_WORDS   4u

/* In front of a closure are the address of code, its data, and the addresses of code twice, of
 * which each may be missing.  The closure begins with 32 bits, of which 15 are the number of its
 * references, and the address of code (gobject/gclosure.c, GRealClosure; gobject/gclosure.h, struct
 * _GClosure). */
static bool is_closure(uintptr_t block, size_t size)
{
	static const uint8_t missing[] = {0, 2, 3};
	const uintptr_t first = size < (CLOSURE_PRIVATE + CLOSURE_WORDS) * WORD
	                                ? 0
	                                : word_of(block, CLOSURE_PRIVATE);

	if ((first & 0x7fff) == 0 || first >> 16 >> 16 != 0 ||
	    !is_code(word_of(block, CLOSURE_PRIVATE + 1)))
		return false;
	for (unsigned i = 0; i < sizeof(missing); i++) {
		const uintptr_t word = word_of(block, missing[i]);

		if (word != 0 && !is_code(word))
			return false;
	}
	return true;
}

/* A slab lacks two words to a power of two, to which it is aligned.  It ends with four words about
 * itself, of which the last two lead to these words of the next and the last slab in a ring
 * (glib/gslice.c, allocator_add_slab and struct _SlabInfo). */
static bool is_slab(uintptr_t block, size_t size, leakwrap_is_readable *is_readable)
{
	const size_t page = size + 2 * WORD;
	const uintptr_t about = block + size - 4 * WORD;
	uintptr_t next, last;

	if ((page & (page - 1)) != 0 || block % page != 0 || size < 8 * WORD ||
	    !is_readable(about, 4 * WORD))
		return false;
	next = word_of(about, 2);
	last = word_of(about, 3);
	return next % WORD == 0 && last % WORD == 0 && is_readable(next, 4 * WORD) &&
	       is_readable(last, 4 * WORD) && word_of(next, 3) == about &&
	       word_of(last, 2) == about;
}

bool leakwrap_is_glib_interior(uintptr_t block, size_t size, uintptr_t pointer,
                               leakwrap_is_readable *is_readable)
{
	const uintptr_t offset = pointer - block;

	if (block % WORD != 0)
		return false;
	return is_object(block, size, pointer, is_readable) ||
	       (offset == WORD && is_fundamental_type(block, size, is_readable)) ||
	       (offset == CLOSURE_PRIVATE * WORD && is_closure(block, size)) ||
	       is_slab(block, size, is_readable);
}
