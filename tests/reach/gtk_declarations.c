/* gtk_declarations.c - keeps what GTK does of widgets with the same style: by pointers with marks
 * in the two lowest bits.  Other such pointers lead to blocks that are none: of one the number of
 * classes is another, one has no owner, and one does not have the address of a type. */
#include <glib-object.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { DECLARATIONS = 40, CLASSES = 10, OTHERS = 3 };

/* Like struct _GtkCssNodeDeclaration of GTK 3.24 (gtk/gtkcssnodedeclaration.c). */
struct declaration {
	unsigned owners, junctions;
	GType type;
	const char *name, *id;
	unsigned state, classes, regions;
};

static volatile uintptr_t kept[DECLARATIONS], others[OTHERS];

static NOINLINE struct declaration *make(unsigned classes)
{
	struct declaration *const made = calloc(1, sizeof(*made) + classes * sizeof(GQuark));

	made->owners = 1;
	made->type = G_TYPE_INITIALLY_UNOWNED;
	made->classes = classes;
	return made;
}

static NOINLINE void make_others(void)
{
	struct declaration *other[OTHERS];

	for (int i = 0; i < OTHERS; i++) {
		other[i] = make(CLASSES);
		others[i] = (uintptr_t)other[i] | 3;
	}
	other[0]->classes--;
	other[1]->owners = 0;
	other[2]->type = (GType)(uintptr_t)others;
	for (int i = 0; i < OTHERS; i++)
		other[i] = NULL;
}

int main(void)
{
	for (unsigned i = 0; i < DECLARATIONS; i++)
		kept[i] = (uintptr_t)make(i % CLASSES) | (i % 3 + 1);
	make_others();
	clear_stack();
	return raise(SIGUSR1);
}
