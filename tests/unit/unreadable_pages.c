/* unreadable_pages.c - the unwinder (wrap/unwind) beside pages that cannot be read: bounds of
 * stacks, generated code, and the search for pointers in a module's data.
 * sources: wrap/unwind/stack_bounds.c wrap/unwind/generated_code.c wrap/unwind/return_address.c
 * sources: wrap/base/options.c wrap/base/loss.c wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_readable */
#include "wrap/module/other_code.h"
#include "wrap/port/port.h"
#include "wrap/unwind/generated_code.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/stack_bounds.h"
#include "unheld_modules.h"
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE ((uintptr_t)LEAKWRAP_PAGE)

enum { PAGES = 8, HOLE = 2 };

static char *pages; /* PAGES pages.  Page HOLE cannot be read */
static unsigned asked;

bool __real_leakwrap_readable(uintptr_t address);
bool __wrap_leakwrap_readable(uintptr_t address);

bool __wrap_leakwrap_readable(uintptr_t address)
{
	asked++;
	return __real_leakwrap_readable(address);
}

/* Returns the address of page NUMBER. */
static uintptr_t page(unsigned number)
{
	return (uintptr_t)pages + number * PAGE;
}

static void map(void)
{
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	             0);
	CHECK(pages != MAP_FAILED);
	CHECK(mprotect((void *)page(HOLE), PAGE, PROT_NONE) == 0);
}

/* -- modules ----------------------------------------------------------------------------------- */

static bool is_code[PAGES]; /* whether a page is code that was generated */
static struct leakwrap_code code;

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	(void)address;
	return NULL;
}

bool leakwrap_module_is_there(const struct leakwrap_module *module)
{
	(void)module;
	return true;
}

bool leakwrap_is_other_code(uintptr_t address)
{
	return address >= page(0) && address < page(PAGES) && is_code[(address - page(0)) / PAGE];
}

void leakwrap_other_code_read_at_times(void)
{
}

void leakwrap_other_code_read(bool is_urgent)
{
	(void)is_urgent;
}

bool leakwrap_other_code_note_missed(uintptr_t address)
{
	(void)address;
	return false;
}

/* Stands in for the decoder: all code is calls. */
uintptr_t leakwrap_call_before(const struct leakwrap_code *around, uintptr_t pc, uintptr_t *target)
{
	code = *around;
	*target = 0;
	return pc - 4;
}

/* -- the tests --------------------------------------------------------------------------------- */

/* A foreign stack has no page between its bounds that was not probed. */
static void probe_foreign(void)
{
	struct leakwrap_stack stack = {page(4), page(5), true};
	uintptr_t word;

	CHECK(leakwrap_stack_read(&stack, page(5), &word));
	CHECK(stack.low == page(4) && stack.high == page(6));
	CHECK(leakwrap_stack_read(&stack, page(4) - sizeof(word), &word));
	CHECK(stack.low == page(3) && stack.high == page(6));
	CHECK(!leakwrap_stack_read(&stack, page(HOLE), &word));
	CHECK(leakwrap_stack_read(&stack, page(0), &word));
	CHECK(stack.low == page(0) && stack.high == page(1));
	CHECK(!leakwrap_stack_read(&stack, page(HOLE), &word));
	CHECK(leakwrap_stack_read(&stack, page(4), &word));
	CHECK(stack.low == page(4) && stack.high == page(5));
}

/* A page inside the bounds may have been unmapped. */
static void scan_over_hole(void)
{
	struct leakwrap_stack stack = {page(0), page(PAGES), false};

	CHECK(leakwrap_stack_scan_may_continue(&stack, page(1)));
	CHECK(!leakwrap_stack_scan_may_continue(&stack, page(HOLE)));
}

/* The thread's own stack ends at the first page that cannot be read, for good.  A stack pointer far
 * below it is not probed. */
static void grow_own(void)
{
	const uintptr_t far = (uintptr_t)16384 * PAGE;

	leakwrap_self.stack_high = page(6) + 64;
	leakwrap_self.stack_room = 64;
	asked = 0;
	CHECK(!leakwrap_stack_is_own(page(6) - far - PAGE));
	CHECK(asked == 0 && leakwrap_self.stack_floor == 0);
	CHECK(leakwrap_stack_is_own(page(5)) && asked == 1);
	CHECK(leakwrap_stack_is_own(page(5)) && asked == 1);
	CHECK(!leakwrap_stack_is_own(page(1)));
	CHECK(leakwrap_self.stack_floor == page(HOLE + 1));
	asked = 0;
	CHECK(!leakwrap_stack_is_own(page(1)) && asked == 0);
	CHECK(leakwrap_stack_is_own(page(HOLE + 1)) && asked == 0);
}

/* Returns whether WORD is a return address in generated code, and that code may be read from page
 * LOW to page HIGH. */
static bool is_return(uintptr_t word, unsigned low, unsigned high)
{
	const struct leakwrap_stack stack = {page(7), page(8), false};
	struct leakwrap_code around;
	uintptr_t target;

	leakwrap_forget_code_pages();
	if (!leakwrap_is_generated_return(&stack, word, &around, &target))
		return false;
	CHECK(code.low == page(low) && code.high == page(high));
	return true;
}

/* A call may begin on the page before its end.  It is read only if that page can be read. */
static void return_to_page(void)
{
	memset(is_code, true, sizeof(is_code));
	CHECK(is_return(page(5) + 64, 5, 6));
	CHECK(is_return(page(5) + 2, 4, 6));
	CHECK(is_return(page(5), 4, 6)); /* the call ends on page 4 */
	CHECK(is_return(page(HOLE + 1) + 2, HOLE + 1, HOLE + 2));
	CHECK(is_return(page(HOLE), 1, HOLE));
	CHECK(!is_return(page(HOLE) + 64, 0, 0));
	CHECK(!is_return(page(7) + 64, 0, 0)); /* the stack */
	is_code[4] = false;
	CHECK(is_return(page(5) + 2, 5, 6));
	CHECK(!is_return(page(4) + 64, 0, 0));
}

/* The program may have unmapped a part of a module's data. */
static void search_data(void)
{
	const struct leakwrap_module module = {.start = page(0), .end = page(PAGES)};
	uintptr_t pointers[3];

	((uintptr_t *)page(1))[3] = 0x1000;
	((uintptr_t *)page(HOLE + 1))[3] = 0x1010;
	leakwrap_pointers_before(&module, 0x1018, 0x100, pointers, 3);
	CHECK(pointers[0] == 0x1010 && pointers[1] == 0x1000 && pointers[2] == 0);
}

int main(void)
{
	map();
	probe_foreign();
	scan_over_hole();
	grow_own();
	return_to_page();
	search_data();
	return 0;
}
