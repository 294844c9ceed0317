/* glib_parts.c - keeps small blocks of GLib, types, closures, and blocks with a count of their
 * references, as GLib does: by pointers into blocks.  Similar blocks are none of GLib's. */
#include <glib-object.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 200, LOST = 3, WORDS = 14, PAGE = 512, OTHERS = 12 };

static GTree *volatile tree;
static GClosure *volatile closures[KEPT];
static char *volatile strings[KEPT];
static void *volatile boxes[KEPT];
static void *volatile *volatile others[OTHERS];

static int compare(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

static void do_nothing(void)
{
}

/* Returns a block of zeros.  A pointer leads to its word INSIDE. */
static uintptr_t *make(unsigned number, unsigned inside)
{
	uintptr_t *const block = calloc(WORDS, sizeof(*block));

	others[number] = (void *volatile *)block + inside;
	return block;
}

/* Makes blocks like fundamental types: one with a number that none has, one with another word
 * behind it, one without flags that are small. */
static void make_false_types(void)
{
	uintptr_t *type = make(0, 1);

	type[0] = 3;
	type[WORDS - 2] = 1024;
	type = make(1, 1);
	type[0] = 3;
	type[WORDS - 2] = type[WORDS - 1] = 80;
	type = make(2, 1);
	type[0] = 16;
	type[WORDS - 2] = 80;
}

/* Makes blocks like closures: one without a reference, one without code, one with another word
 * where code would be. */
static void make_false_closures(void)
{
	uintptr_t *closure = make(3, 4);

	closure[5] = (uintptr_t)do_nothing;
	closure = make(4, 4);
	closure[4] = 1;
	closure = make(5, 4);
	closure[2] = 1;
	closure[4] = 1;
	closure[5] = (uintptr_t)do_nothing;
}

/* Makes a block like a slab, of SIZE bytes at a multiple of ALIGNMENT. */
static void make_false_slab(unsigned number, size_t alignment, size_t size)
{
	uintptr_t *const block = aligned_alloc(alignment, 2 * alignment);
	uintptr_t *const whole = realloc(block, size);
	uintptr_t *const about = whole + size / sizeof(*whole) - 4;

	about[0] = about[1] = 0;
	about[2] = about[3] = (uintptr_t)&about[-1];
	others[number] = (void *volatile *)whole + 8;
}

/* Makes blocks like those with a count of references: one without a reference, one with another
 * size, one with a third word, one with -1 for its size. */
static void make_false_boxes(void)
{
	uintptr_t *const small = calloc(5, sizeof(*small));

	small[0] = 1;
	small[1] = UINTPTR_MAX;
	others[11] = (void *volatile *)small + 4;
	for (unsigned i = 0; i < 3; i++) {
		uintptr_t *const box = make(8 + i, 4);

		box[0] = i != 0;
		box[1] = (WORDS - 4) * sizeof(*box) - (i == 0) + (i == 1);
		box[2] = i == 2;
	}
}

static NOINLINE void lose(void)
{
	for (int i = 0; i < LOST; i++)
		*(void *volatile *)malloc(sizeof(void *)) = NULL;
}

int main(void)
{
	tree = g_tree_new(compare);
	for (int i = 0; i < KEPT; i++) {
		g_tree_insert(tree, g_strdup("a key"), g_slice_alloc0(40 + (size_t)i % 7 * 16));
		closures[i] = g_cclosure_new(do_nothing, NULL, NULL);
		g_closure_set_marshal(closures[i], g_cclosure_marshal_VOID__VOID);
		strings[i] = g_ref_string_new(&"a string"[i % 9]);
		boxes[i] = i % 2 ? g_rc_box_alloc0((size_t)i + 1)
		                 : g_atomic_rc_box_alloc0((size_t)i + 1);
	}
	g_type_class_ref(G_TYPE_INITIALLY_UNOWNED);
	make_false_types();
	make_false_closures();
	make_false_boxes();
	make_false_slab(6, PAGE, PAGE - 2 * sizeof(void *));
	make_false_slab(7, PAGE, PAGE - 4 * sizeof(void *));
	lose();
	clear_stack();
	return raise(SIGUSR1);
}
