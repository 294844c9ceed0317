/* interior.h - known reasons for a pointer into a block (wrap/reach/interior.h). */
#ifndef TOOLS_IMAGE_INTERIOR_H
#define TOOLS_IMAGE_INTERIOR_H

#include "tools/image/mark.h"
#include "tools/image/modules.h"

/* What is looked at. */
struct interior_search {
	const struct image *image;
	const struct image_modules *modules;
	const struct block_index *index;
	bool is_glibc;
};

/* Returns true if POINTER into BLOCK, or to the end of an empty array, has a known reason
 * (wrap/reach/interior.h).  CONTEXT: a struct interior_search. */
mark_interior is_usual_interior;

/* Does what leakwrap_leads_back does (wrap/reach/interior.h). */
mark_interior leads_back_to_block;

/* Returns whether BLOCK may be one that a program holds by its end, but no array
 * (wrap/rules/end_rules.h).  POINTER is the address of the end.  CONTEXT: a struct
 * interior_search. */
mark_interior is_block_held_by_end;

/* Does what leakwrap_array_of does (wrap/reach/interior.h). */
mark_array find_array_of;

#endif
