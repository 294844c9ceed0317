/* interior.h - known reasons for a pointer into a block (wrap/reach/interior.h). */
#ifndef TOOLS_IMAGE_INTERIOR_H
#define TOOLS_IMAGE_INTERIOR_H

#include "tools/image/mark.h"
#include "tools/image/modules.h"

/* What is looked at. */
struct interior_search {
	const struct image *image;
	const struct image_modules *modules;
	bool is_glibc;
};

/* Returns true if POINTER into BLOCK has a known reason: an old std::string, an array with a
 * cookie, a length of 64 bits in front, a hash table of Rust, a thread's vector of dynamic
 * thread-local storage, a part of an object.  CONTEXT: a struct interior_search. */
mark_interior is_usual_interior;

#endif
