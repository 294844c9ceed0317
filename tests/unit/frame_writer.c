/* frame_writer.c - compares lines of frames (report/frame_writer.c) with printf's output. A frame
 * that the cache repeats must be equal to a frame that is newly written.
 * sources: report/frame_writer.c report/frame_cache.c report/line_writer.c report/output.c
 * sources: wrap/port/linux*.c */
#include "report/frame_writer.h"
#include "report/frame_cache.h"
#include "wrap/module/registry.h"
#include "wrap/base/options.h"
#include "report/elf_symbols.h"
#include "unit.h"
#include "wrap/unwind/trace.h"

#include <string.h>

enum { START = 0x10000, STEP = 0x40, FUNCTIONS = 20000, LONGEST = 400, FRAMES = 20000 };

struct leakwrap_options leakwrap_options = {.log = "stderr"};

static const struct leakwrap_module module = {.start = START,
                                              .end = START + FUNCTIONS * STEP,
                                              .bias = START,
                                              .number = 7,
                                              .path = "/lib/some.so"};
static struct leakwrap_writer writer;

/* -- a made-up module with a function every STEP bytes ----------------------------------------- */

const struct leakwrap_module *leakwrap_module_ever_at(uintptr_t address)
{
	return address >= module.start && address < module.end ? &module : NULL;
}

/* This test does not need it. */
const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	return leakwrap_module_ever_at(address);
}

unsigned leakwrap_modules_generation(void)
{
	return 1;
}

void leakwrap_modules_refresh(void)
{
}

/* Names have any length. The cache keeps most of them, and not the longest. */
const char *leakwrap_symbol(const struct leakwrap_module *in, uintptr_t pc, uintptr_t *offset)
{
	static char name[LONGEST + 1];
	uintptr_t number = (pc - in->start) / STEP;

	memset(name, 'a' + (int)(number % 26), sizeof(name) - 1);
	name[number % 3 ? number % 40 + 1 : number % LONGEST + 1] = '\0';
	*offset = (pc - in->start) % STEP;
	return name;
}

/* -- tests ------------------------------------------------------------------------------------- */

/* Writes nothing out, because one line fits the buffer. */
static void begin(void)
{
	leakwrap_writer_start(&writer, -1, "> ");
}

static void check_line(unsigned level, uintptr_t pc, bool is_return)
{
	static char wanted[LONGEST + 200];
	const char *exact = is_return ? "" : " exact=1";
	uintptr_t offset;

	if (leakwrap_module_ever_at(pc - is_return)) {
		const char *name = leakwrap_symbol(&module, pc - is_return, &offset);

		snprintf(wanted, sizeof(wanted), ">   #%u 0x%lx %s+0x%lx [7] some.so+0x%lx%s\n",
		         level, (unsigned long)pc, name, (unsigned long)offset + is_return,
		         (unsigned long)(pc - module.bias), exact);
	} else {
		snprintf(wanted, sizeof(wanted), ">   #%u 0x%lx ?%s\n", level, (unsigned long)pc,
		         exact);
	}
	CHECK(writer.used == strlen(wanted) && memcmp(writer.buffer, wanted, writer.used) == 0);
}

/* Writes frames in FUNCTIONS_USED functions, and beside the module. Returns how many were
 * cached. */
static unsigned write_frames(unsigned functions_used, uint64_t seed)
{
	unsigned known = 0;

	for (unsigned i = 0; i < FRAMES; i++) {
		uint64_t random = draw_random(&seed);
		uintptr_t pc = START - STEP +
		               (uintptr_t)(random % ((functions_used + UINT64_C(2)) * STEP));
		unsigned level = (unsigned)(random >> 40) % LEAKWRAP_MAX_DEPTH;
		bool is_return = random >> 60 > 0;

		begin();
		if (is_return && leakwrap_frame_write_stored(&writer, level, pc))
			known++;
		else
			CHECK(leakwrap_frame_write(&writer, level, pc, is_return, NULL) ==
			      leakwrap_module_ever_at(pc - is_return));
		check_line(level, pc, is_return);
	}
	return known;
}

int main(void)
{
	CHECK(write_frames(10, 1) == 0);
	for (unsigned dump = 0; dump < 2; dump++) {
		leakwrap_frame_cache_start();
		begin();
		CHECK(!leakwrap_frame_write_stored(&writer, 0, START));
		CHECK(write_frames(10, 2) > FRAMES / 2);
		CHECK(write_frames(FUNCTIONS, 3) < FRAMES / 2);
		leakwrap_frame_cache_end();
		CHECK(write_frames(10, 4) == 0);
	}
	return 0;
}
