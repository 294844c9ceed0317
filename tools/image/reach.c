/* reach.c - see reach.h. */
#include "tools/image/reach.h"

#include <inttypes.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"

/* Returns true if IMAGE is of the machine of the program of DUMP: else the program ran under an
 * emulator, or elsewhere.  Also returns true if the program's file is not found. */
static bool has_machine_of_program(const struct image *image, const struct dump *dump,
                                   const struct search *search)
{
	struct arena arena = {0};
	struct elf_file file = {0};
	struct module program = {0}; /* a copy: the symbolizer tells what it finds of the module */

	for (size_t i = 0; i < dump->mapping_count && !program.main; i++)
		program = *dump->mappings[i].module;
	if (image->is_core && program.main)
		file = elf_file_open(&arena, &program, search);
	const bool fits =
	        !file.dwfl || (file.machine == image->machine && file.word == image->word);
	if (!fits)
		complain("%s is a core file of %s, but %s is a program for %s: --core takes the "
		         "core file of this program, not that of another machine or of an emulator",
		         image->name, image_machine_name(image->machine, image->word), program.path,
		         image_machine_name(file.machine, file.word));
	elf_file_close(&file);
	arena_free(&arena);
	return fits;
}

/* Returns true if IMAGE has the memory of the blocks in LIST: else it is of another process, or of
 * another time. */
static bool has_blocks(const struct image *image, const struct block_list *list)
{
	size_t missing = 0;

	for (size_t i = 0; i < list->count; i++)
		missing += image_part_at(image, list->blocks[i].address) == NULL;
	if (missing == 0)
		return true;
	complain("%s has no memory at %zu of the %zu blocks: it is of another process, or of "
	         "another time than the dump",
	         image->name, missing, list->count);
	return false;
}

/* Returns true if IMAGE has the roots in LIST, if these are all roots: what they lead to would be
 * called lost. */
static bool has_roots(const struct image *image, const struct block_list *list)
{
	for (size_t i = 0; list->are_roots_listed && i < list->root_count; i++) {
		const struct memory_range *root = &list->roots[i];
		const unsigned char *bytes;
		uint64_t at = root->start, there = 1;
		while (at < root->end && there > 0) {
			there = image_bytes(image, at, &bytes);
			at += there < root->end - at ? there : root->end - at;
		}
		if (at == root->end)
			continue;
		complain("no image has the memory at 0x%" PRIx64
		         ", where the program may keep pointers: --image adds it",
		         at);
		return false;
	}
	return true;
}

/* Returns true if DUMP, which was read after KNOWN, is the later dump of their process.  A process
 * that executes a program counts its dumps from 1 again. */
static bool is_later(const struct dump *dump, const struct dump *known)
{
	if (dump->seconds >= 0 && known->seconds >= 0 && dump->seconds != known->seconds)
		return dump->seconds > known->seconds;
	return dump->log == known->log || dump->sequence > known->sequence;
}

/* Returns the dump of REPORT that belongs to PROCESS, 0 if that is not known.  Returns NULL after a
 * message if there is none.  NAME is the file's. */
static struct dump *find_dump(const struct report *report, unsigned long process, const char *name)
{
	struct dump *found = NULL;
	bool has_process = false;

	for (size_t i = 0; i < report->dump_count; i++) {
		struct dump *dump = report->dumps[i];
		const bool is_of_process = process == 0 || dump->pid == process;
		has_process |= is_of_process;
		if (is_of_process && dump->blocks &&
		    (!found ||
		     (dump->chosen == found->chosen ? is_later(dump, found) : dump->chosen)))
			found = dump;
	}
	if (!found)
		complain(has_process ? "%s: no dump of its process lists the live blocks (option "
		                       "blocks=1)"
		                     : "%s: the logs have no dump of its process",
		         name);
	else if (found->damage)
		complain("%s: dump %lu of process %lu is damaged: the verdicts may be wrong", name,
		         found->sequence, found->pid);
	return found;
}

void reach_start(struct image_reach *reach, struct dump *dump, const struct search *search)
{
	reach->dump = dump;
	reach->index = block_index_build(dump->blocks);
	reach->modules = image_modules_open(&reach->image, dump, search);
	reach->search =
	        (struct root_search){&reach->image, &reach->modules, &reach->index, dump->blocks};
	reach->interior = (struct interior_search){&reach->image, &reach->modules, &reach->index,
	                                           dump->blocks->is_glibc};
	reach->marking = (struct marking){.image = &reach->image,
	                                  .index = &reach->index,
	                                  .is_usual_interior = is_usual_interior,
	                                  .leads_back = leads_back_to_block,
	                                  .is_held_by_end = is_block_held_by_end,
	                                  .find_array = find_array_of,
	                                  .context = &reach->interior,
	                                  .stacks = dump->blocks->stacks,
	                                  .stack_count = dump->blocks->stack_count,
	                                  .step = dump->blocks->pointer_step};
	mark_start(&reach->marking);
	if (reach->image.word == 0)
		return;
	roots_mark(&reach->marking, &reach->search);
	mark_finish(&reach->marking);
}

void image_files_add(struct image_files *files, const char *image)
{
	GROW(files->images, files->image_room, files->image_count + 1);
	files->images[files->image_count++] = image;
}

/* Reads FILES.  Returns false after a message if one of them cannot be used. */
static bool read_files(struct image *image, const struct image_files *files)
{
	*image = (struct image){0};
	if (files->core)
		return image_read_core(image, files->core);
	for (size_t i = 0; i < files->image_count; i++)
		if (!image_add_ram(image, files->images[i])) {
			image_free(image);
			return false;
		}
	return true;
}

bool reach_of_files(struct image_reach *reach, const struct image_files *files,
                    const struct report *report, const struct search *search)
{
	*reach = (struct image_reach){0};
	if (!read_files(&reach->image, files))
		return false;
	struct dump *dump = find_dump(report, reach->image.process, reach->image.name);
	if (!dump || !has_machine_of_program(&reach->image, dump, search) ||
	    !has_blocks(&reach->image, dump->blocks) || !has_roots(&reach->image, dump->blocks)) {
		image_free(&reach->image);
		return false;
	}
	dump->chosen = true;
	reach_start(reach, dump, search);
	if (reach->image.word != 0)
		return true;
	complain("the program's ELF file is not found: --exe names it");
	reach_free(reach);
	return false;
}

void reach_free(struct image_reach *reach)
{
	mark_free(&reach->marking);
	image_modules_close(&reach->modules);
	block_index_free(&reach->index);
	image_free(&reach->image);
}

/* -- verdicts ---------------------------------------------------------------------------------- */

static void add(struct reach_sums *sums, unsigned kind, uint64_t size)
{
	add_up(&sums->bytes[kind], size);
	add_up(&sums->blocks[kind], 1);
}

/* Adds a block of SIZE bytes to the call site with RANK, and to the totals. */
static void add_block(struct dump *dump, uint64_t rank, unsigned kind, uint64_t size)
{
	if (rank == 0)
		return;
	if (kind != REACH_WITHIN)
		add(&dump->totals.reach, kind, size);
	if (rank <= dump->site_count)
		add(&dump->sites[rank - 1].reach, kind, size);
}

void reach_judge(const struct image_reach *reach)
{
	struct dump *dump = reach->dump;
	static const enum reach kinds[] = {[MARK_POSSIBLE] = REACH_POSSIBLE,
	                                   [MARK_REACHABLE] = REACH_REACHABLE,
	                                   [MARK_LOST] = REACH_DEFINITE};

	dump->totals.reach = (struct reach_sums){.is_known = true};
	dump->totals.pause_ns = dump->totals.scan_ns = -1;
	dump->totals.running_threads = 0;
	dump->totals.scanned = "image";
	dump->totals.heap = dump->blocks->is_heap_known ? "known" : "part";
	for (size_t i = 0; i < dump->site_count; i++)
		dump->sites[i].reach = (struct reach_sums){.is_known = true};
	for (size_t i = 0; i < reach->index.count; i++) {
		const struct listed_block *block = &reach->index.blocks[i];
		const struct mark *mark = &reach->marking.marks[i];
		if (mark->is_indirect && mark->leader != NO_BLOCK) {
			add_block(dump, reach->index.blocks[mark->leader].rank, REACH_INDIRECT,
			          block->size);
			add_block(dump, block->rank, REACH_WITHIN, block->size);
		} else if (!block->is_ignored) {
			add_block(dump, block->rank, kinds[mark->kind], block->size);
		}
	}
}
