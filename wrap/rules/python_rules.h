/* python_rules.h - the pointers into a block by which CPython holds it:
 *
 *   - to an object, behind what the collector keeps of it, if a block is allocated for each
 *   - to the characters of a str or a bytes object, behind their number
 *   - to the values of an object's attributes, behind the order in which they came
 *
 * For interior_rules.h.
 */
#ifndef LEAKWRAP_PYTHON_RULES_H
#define LEAKWRAP_PYTHON_RULES_H

#include "wrap/rules/interior_pointer.h"

/* The name of the type of types, whose type it is itself, and how many types are asked for it. */
#define TYPE_OF_TYPES "type"
#define TYPE_STEPS    4u

/* Returns whether the name at ADDRESS is that of the type of types. */
LEAKWRAP_INLINE bool is_type_of_types(const struct leakwrap_memory *memory, leakwrap_word address)
{
	static const char name[] = TYPE_OF_TYPES;

	if (!memory->is_readable(memory->context, address, sizeof(name)))
		return false;
	for (unsigned i = 0; i < sizeof(name); i++)
		if (memory->load(memory->context, address + i, 1) != (unsigned char)name[i])
			return false;
	return true;
}

/* Returns true if the object of CPython at OBJECT has a type.  The object's second word is its
 * type, an object, too.  The name of a type is its fourth word.  Each type's type, and so on, is
 * "type" at last (CPython, Include/object.h, struct _object; Include/cpython/object.h, struct
 * _typeobject). */
LEAKWRAP_INLINE bool has_python_type(const struct leakwrap_memory *memory, leakwrap_word object)
{
	const leakwrap_word word = memory->word;
	leakwrap_word type;

	for (unsigned i = 0; i < TYPE_STEPS; i++, object = type) {
		type = leakwrap_word_at(memory, object + word);
		if (!leakwrap_leads_to_words(memory, type, 4))
			return false;
		if (type == object)
			return is_type_of_types(memory, leakwrap_word_at(memory, type + 3 * word));
	}
	return false;
}

/* In front of an object are two or four words, of its collector and its attributes. */
LEAKWRAP_INLINE bool may_be_python_object(const struct leakwrap_interior *in)
{
	const leakwrap_word word = in->memory->word;

	return (in->offset == 2 * word || in->offset == 4 * word) &&
	       leakwrap_is_multiple(in->pointer, word) && in->size - in->offset >= 2 * word;
}

/* The characters of a str and the bytes of a bytes object end the block with a 0.  In front of them
 * are four to six words of the object, of which the third is their number (CPython,
 * Include/cpython/unicodeobject.h, PyASCIIObject; Include/cpython/bytesobject.h). */
LEAKWRAP_INLINE bool may_be_python_text(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, offset = in->offset;

	return (offset == 4 * word || offset == 5 * word || offset == 6 * word) &&
	       leakwrap_is_multiple(in->pointer, word) && in->size > offset &&
	       leakwrap_word_of(in, 2) == in->size - offset - 1 &&
	       memory->load(memory->context, in->block + in->size - 1, 1) == 0;
}

/* In front of the values of an object's attributes are a byte for each and two more, rounded up to
 * words.  The last byte is the number of all these bytes, the byte before it that of the attributes
 * in use (CPython 3.11, Objects/dictobject.c, new_values). */
LEAKWRAP_INLINE bool is_python_values(const struct leakwrap_interior *in)
{
	const struct leakwrap_memory *const memory = in->memory;
	const leakwrap_word word = memory->word, offset = in->offset;
	const leakwrap_word values = (in->size - offset) / word;

	return leakwrap_is_multiple(in->pointer, word) && values > 0 &&
	       leakwrap_is_multiple(in->size, word) &&
	       offset == ((values + 2 + word - 1) & ~(word - 1)) &&
	       memory->load(memory->context, in->pointer - 1, 1) == offset &&
	       memory->load(memory->context, in->pointer - 2, 1) <= values;
}

LEAKWRAP_INLINE bool is_of_python(const struct leakwrap_interior *in)
{
	return is_python_values(in) ||
	       (may_be_python_text(in) && has_python_type(in->memory, in->block)) ||
	       (may_be_python_object(in) && has_python_type(in->memory, in->pointer));
}

#endif
