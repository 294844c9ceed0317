/* core.c - makes the shapes of tests/reach/shapes.c, writes a dump, and aborts: so that a core file
 * of the same moment can be had. */
#define main make_shapes
#include "../reach/shapes.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "leakwrap.h"

int main(int argc, char **argv)
{
	make_shapes(argc, argv);
	leakwrap_dump(-1);
	abort();
}
