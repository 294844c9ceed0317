/* loader_list.c - see loader_list.h. */
#include "wrap/module/loader_list.h"

#include "wrap/base/hash.h"
#include "wrap/module/debugger_list.h"
#include "wrap/module/module_notes.h"
#include "wrap/module/module_path.h"
#include "wrap/port/port.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* The context of a read.  The strings that dl_iterate_phdr reports may be freed once it returns, so
 * they are copied. */
struct reader {
	struct leakwrap_loader_list *list;
	const char *program_path; /* NULL: not known */
	leakwrap_module_inspector *inspect;
	char *next, *end;  /* the unused scratch memory, for paths */
	unsigned capacity; /* of LIST, in modules */
	unsigned added;    /* to the list's new modules */
	bool is_full;
};

/* The first size of a list, in bytes, and the modules in it.  It is no larger than most
 * programs need: near the limit of its address space a program has no room for more. */
#define LIST_SIZE ((size_t)64 << 10)
#define LIST_MAX  64u

/* -- the headers of a module ------------------------------------------------------------------- */

static void add_text(struct leakwrap_module *module, uintptr_t start, uintptr_t end, bool only_runs)
{
	for (unsigned i = 0; i < LEAKWRAP_TEXTS_MAX; i++)
		if (module->text[i].end == 0) {
			module->text[i] = (struct leakwrap_text){
			        .start = start, .end = end, .is_only_executed = only_runs};
			return;
		}
}

static void add_segment(struct leakwrap_module *module, uintptr_t start, uintptr_t end,
                        bool is_writable)
{
	for (unsigned i = 0; i < LEAKWRAP_SEGMENTS_MAX; i++)
		if (module->segment[i].end == 0) {
			module->segment[i] = (struct leakwrap_segment){start, end, is_writable};
			return;
		}
}

static void read_segment(struct leakwrap_module *module, const ElfW(Phdr) * segment)
{
	uintptr_t start = module->bias + segment->p_vaddr;
	uintptr_t end = start + segment->p_memsz;

	switch (segment->p_type) {
	case PT_LOAD:
		if (start < module->start)
			module->start = start;
		if (end > module->end)
			module->end = end;
		add_segment(module, start, end, (segment->p_flags & PF_W) != 0);
		if ((segment->p_flags & PF_X) != 0)
			add_text(module, start, end, (segment->p_flags & PF_R) == 0);
		break;
	case PT_DYNAMIC:
		module->dynamic = (const void *)start;
		break;
	case PT_GNU_EH_FRAME:
		module->eh_frame_hdr = (const void *)start;
		module->eh_frame_hdr_size = segment->p_memsz;
		break;
#ifdef PT_ARM_EXIDX
	case PT_ARM_EXIDX:
		module->exidx = (const void *)start;
		module->exidx_size = segment->p_memsz;
		break;
#endif
	default:
		break;
	}
}

/* Finds the segment in which the unwind tables of MODULE begin.  The unwinder reads only inside
 * it, because the memory behind it may be unmapped. */
static void find_tables_segment(struct leakwrap_module *module, const ElfW(Phdr) * segment,
                                unsigned count)
{
	uintptr_t tables = (uintptr_t)(module->eh_frame_hdr ? module->eh_frame_hdr : module->exidx);

	for (unsigned i = 0; i < count; i++) {
		uintptr_t start = module->bias + segment[i].p_vaddr;

		if (segment[i].p_type == PT_LOAD && tables - start < segment[i].p_filesz) {
			module->tables_start = start;
			module->tables_end = start + segment[i].p_filesz;
		}
	}
}

/* Hashes the headers of MODULE, which was read from INFO, while the loader keeps it loaded.  Mostly
 * makes no system call: the program headers have been read from the same page. */
static uint32_t hash_headers_of(const struct leakwrap_module *module,
                                const struct dl_phdr_info *info)
{
	const uintptr_t program_headers = (uintptr_t)info->dlpi_phdr;

	return leakwrap_module_hash_headers(module, program_headers / LEAKWRAP_PAGE ==
	                                                    module->start / LEAKWRAP_PAGE);
}

/* -- the program's path ------------------------------------------------------------------------ */

/* Returns true if the program was started by its loader (ld.so(8): ld.so PROGRAM).  The kernel
 * then executed the loader itself and mapped no second loader, so AT_BASE is 0. */
static bool is_started_by_loader(const struct dl_phdr_info *program)
{
	for (unsigned i = 0; i < program->dlpi_phnum; i++)
		if (program->dlpi_phdr[i].p_type == PT_INTERP)
			return leakwrap_auxiliary(AT_BASE) == 0;
	return false;
}

/* Writes the name under which the program INFO was started to PATH, of SIZE bytes.  Prefixes a
 * relative path with the current folder.  BY_LOADER: the program was started by its loader.
 * musl's loader stores its argument in dlpi_name; glibc's stores it where the kernel stored the
 * name.  Returns the length; the caller appends the 0. */
static size_t read_start_name(const struct dl_phdr_info *info, bool by_loader, char *path,
                              size_t size)
{
	const char *name =
	        by_loader && *info->dlpi_name ? info->dlpi_name : leakwrap_process_started_as();
	size_t used, length;

	if (!name || !*name)
		name = "?";
	used = leakwrap_module_path_folder(name, path, size);
	length = strnlen(name, size - used - 1);
	memcpy(path + used, name, length);
	return used + length;
}

/* Writes the program's path to PATH, of SIZE bytes.  KNOWN is the path if it is known, else NULL.
 * The loader's list does not have it: glibc stores "", static musl programs /proc/self/exe.  The
 * path is never empty, because then its frames could not be symbolized.  The first path is kept:
 * later the file may be deleted, or /proc may be gone.  Returns the length. */
static size_t read_program_path(const struct dl_phdr_info *info, const char *known, char *path,
                                size_t size)
{
	const bool by_loader = is_started_by_loader(info);
	long length = known || by_loader ? 0 : leakwrap_read_link("/proc/self/exe", path, size - 1);

	if (known) {
		length = (long)strnlen(known, size - 1);
		memcpy(path, known, (size_t)length);
	} else if (length <= 0) { /* no /proc, or it names the loader */
		length = (long)read_start_name(info, by_loader, path, size);
	}
	path[length] = '\0';
	return (size_t)length;
}

/* -- the list ---------------------------------------------------------------------------------- */

/* Fills MODULE from the program headers of INFO, without its path.  Returns false if it has no
 * segments. */
static bool read_module(struct leakwrap_module *module, const struct dl_phdr_info *info)
{
	memset(module, 0, sizeof(*module));
	module->bias = info->dlpi_addr;
	module->start = UINTPTR_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		read_segment(module, &info->dlpi_phdr[i]);
	leakwrap_module_read_notes(module, info->dlpi_phdr, info->dlpi_phnum);
	find_tables_segment(module, info->dlpi_phdr, info->dlpi_phnum);
	return module->start < module->end;
}

/* Sets the program headers of INFO, whose file is mapped at START.  Returns false if there is no
 * ELF header. */
static bool find_program_headers(struct dl_phdr_info *info, uintptr_t start)
{
	const ElfW(Ehdr) *header = (const void *)start;

	if (!leakwrap_readable(start) || memcmp(header, ELFMAG, SELFMAG) != 0)
		return false;
	info->dlpi_phdr = (const void *)(start + header->e_phoff);
	info->dlpi_phnum = header->e_phnum;
	return true;
}

bool leakwrap_module_read(struct leakwrap_module *module, uintptr_t start, uintptr_t bias,
                          const char *path)
{
	struct dl_phdr_info info = {.dlpi_addr = bias};

	if (!find_program_headers(&info, start) || !read_module(module, &info))
		return false;
	module->headers = leakwrap_module_hash_headers(module, false);
	module->path = path;
	return true;
}

/* Adds NUMBER to HASH.  Small multiples of the factor lie far from each other, so that different
 * pairs of small numbers give different hashes. */
static uintptr_t add_to_hash(uintptr_t hash, uintptr_t number)
{
	const uintptr_t factor = (uintptr_t)(UINTPTR_MAX > UINT32_MAX ? LEAKWRAP_HASH_FACTOR_64
	                                                              : LEAKWRAP_HASH_FACTOR_32);

	return (hash + number) * factor;
}

/* Makes *CHANGES a number that is another one after each change of the list, by INFO of SIZE bytes,
 * which may have two counters of changes.  Returns whether it has: else *CHANGES is a hash of the
 * modules so far, and the other modules must follow.
 *
 * The sum of the two counters would not do: after dlmopen, glibc's second counter goes down. */
static bool count_changes(uintptr_t *changes, const struct dl_phdr_info *info, size_t size)
{
#ifndef LEAKWRAP_NO_dlpi_subs
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
		*changes = add_to_hash(0, (uintptr_t)info->dlpi_adds) + (uintptr_t)info->dlpi_subs;
		return true;
	}
#else
	(void)size;
#endif
	*changes = add_to_hash(*changes, info->dlpi_addr);
	for (const char *next = info->dlpi_name; *next; next++)
		*changes = add_to_hash(*changes, (unsigned char)*next);
	return false;
}

/* Appends MODULE, whose path of LENGTH characters lies at the reader's NEXT. */
static void append(struct reader *reader, struct leakwrap_module *module, size_t length)
{
	struct leakwrap_loader_list *list = reader->list;
	const struct leakwrap_module *known;

	module->path = reader->next;
	known = reader->inspect(module);
	if (!known) {
		list->new[reader->added] = *module;
		known = &list->new[reader->added++];
		reader->next += length + 1;
	}
	list->module[list->count++] = known;
}

/* Appends the module INFO to the list of the struct reader CONTEXT (dl_iterate_phdr(3)).  Returns
 * 1, which stops the iteration, if the list is full. */
static int list_module(struct dl_phdr_info *info, size_t info_size, void *context)
{
	struct reader *reader = context;
	struct leakwrap_loader_list *list = reader->list;
	struct leakwrap_module module;
	size_t room = (size_t)(reader->end - reader->next);
	size_t length = strlen(info->dlpi_name);

	count_changes(&list->changes, info, info_size);
	if (list->count == reader->capacity || length + 1 > room) {
		reader->is_full = true;
		return 1;
	}
	if (!read_module(&module, info))
		return 0;
	module.is_program = list->count == 0;
	module.headers = hash_headers_of(&module, info);
	if (module.is_program)
		length = read_program_path(info, reader->program_path, reader->next, room);
	else
		memcpy(reader->next, info->dlpi_name, length + 1);
	append(reader, &module, length);
	return 0;
}

/* Returns true if SEGMENT maps the beginning of the file.  A segment without bytes in the file
 * (zero-initialized variables) may have any p_offset. */
static bool begins_file(const ElfW(Phdr) * segment)
{
	return segment->p_type == PT_LOAD && segment->p_offset == 0 && segment->p_filesz > 0;
}

/* A function that takes a module, as dl_iterate_phdr(3) calls it. */
typedef int iterator(struct dl_phdr_info *info, size_t size, void *context);

/* Lists the program from the program headers that the kernel passed (AT_PHDR).  A static program
 * allocates before its C library has filled in the loader's list. */
static void list_program(iterator *take, void *context)
{
	const ElfW(Phdr) *segment = (const void *)leakwrap_auxiliary(AT_PHDR);
	struct dl_phdr_info info = {.dlpi_name = "", .dlpi_phdr = segment};

	info.dlpi_phnum = (ElfW(Half))leakwrap_auxiliary(AT_PHNUM);
	if (!segment)
		return;
	/* GNU ld's static-pie programs have no PT_PHDR.  Their program headers follow the ELF
	 * header at the beginning of the file. */
	for (unsigned i = 0; i < info.dlpi_phnum && info.dlpi_addr == 0; i++)
		if (segment[i].p_type == PT_PHDR || begins_file(&segment[i]))
			info.dlpi_addr = (ElfW(Addr))segment - segment[i].p_vaddr -
			                 (segment[i].p_type == PT_LOAD ? sizeof(ElfW(Ehdr)) : 0);
	take(&info, sizeof(info), context);
}

/* Stores the dynamic section of the program INFO in *CONTEXT. */
static int find_dynamic(struct dl_phdr_info *info, size_t size, void *context)
{
	struct leakwrap_module program;

	(void)size;
	if (read_module(&program, info))
		*(const ElfW(Dyn) **)context = program.dynamic;
	return 0;
}

/* Lists the program and its libraries from the list for debuggers.  The beginning of a library's
 * file is mapped at its bias. */
static void list_for_debuggers(iterator *take, void *context)
{
	const struct leakwrap_debugger_list *debug;
	const ElfW(Dyn) *dynamic = NULL;

	list_program(take, context);
	list_program(find_dynamic, &dynamic);
	debug = leakwrap_debugger_list(dynamic);
	for (const struct leakwrap_debugger_entry *loaded = debug ? debug->first : NULL; loaded;
	     loaded = loaded->next) {
		struct dl_phdr_info info = {.dlpi_addr = loaded->bias, .dlpi_name = loaded->name};

		if (loaded == debug->first || !find_program_headers(&info, loaded->bias))
			continue;
		if (take(&info, sizeof(info), context) != 0)
			return;
	}
}

/* Counts the changes of the list in *CONTEXT (dl_iterate_phdr(3)).  Returns 1, which stops the
 * iteration, if no other module need follow. */
static int read_changes(struct dl_phdr_info *info, size_t size, void *context)
{
	return count_changes(context, info, size);
}

#ifndef LEAKWRAP_NO_dl_iterate_phdr

struct counting {
	iterator *take;
	void *context;
	unsigned count; /* of modules with program headers */
};

static int take_counted(struct dl_phdr_info *info, size_t size, void *context)
{
	struct counting *counting = context;

	counting->count += info->dlpi_phnum > 0;
	return counting->take(info, size, counting->context);
}

uintptr_t leakwrap_loader_list_changes(void)
{
	uintptr_t changes = 0;

	dl_iterate_phdr(read_changes, &changes);
	return changes;
}

/* A program may have a dl_iterate_phdr of its own, which allocates.  The first allocation that a
 * thread makes there may need the list. */
static void list_all(iterator *take, void *context)
{
	static _Thread_local bool is_listing;
	struct counting counting = {take, context, 0};

	if (is_listing) {
		list_for_debuggers(take, context);
		return;
	}
	is_listing = true;
	dl_iterate_phdr(take_counted, &counting);
	is_listing = false;
	if (counting.count == 0)
		list_program(take, context);
}

#else

uintptr_t leakwrap_loader_list_changes(void)
{
	uintptr_t changes = 0;

	list_for_debuggers(read_changes, &changes);
	return changes;
}

static void list_all(iterator *take, void *context)
{
	list_for_debuggers(take, context);
}

#endif

struct leakwrap_loader_list *leakwrap_loader_list_read(const char *program_path,
                                                       leakwrap_module_inspector *inspect,
                                                       unsigned expected,
                                                       unsigned long *read_number)
{
	static _Atomic unsigned long reads_started;
	size_t size = LIST_SIZE;

	while (expected >= LIST_MAX * (size / LIST_SIZE))
		size *= 2;
	for (;; size *= 2) {
		struct reader reader = {.program_path = program_path, .inspect = inspect};
		struct leakwrap_loader_list *list;

		*read_number = atomic_fetch_add(&reads_started, 1) + 1;
		list = leakwrap_scratch_map(size);
		if (!list)
			return NULL;
		reader.list = list;
		reader.capacity = LIST_MAX * (unsigned)(size / LIST_SIZE);
		reader.end = (char *)list + size;
		list->size = size;
		list->module = (const struct leakwrap_module **)&list->new[reader.capacity];
		reader.next = (char *)(list->module + reader.capacity);
		list_all(list_module, &reader);
		if (!reader.is_full)
			return list;
		leakwrap_scratch_unmap(list, size);
	}
}

/* The context of visit_module. */
struct visitor {
	leakwrap_module_visitor *visit;
	void *context;
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct visitor *visitor = context;
	struct leakwrap_module module;

	(void)size;
	if (read_module(&module, info)) {
		module.path = info->dlpi_name;
		visitor->visit(visitor->context, &module);
	}
	return 0;
}

void leakwrap_loader_list_visit(leakwrap_module_visitor *visit, void *context)
{
	list_all(visit_module, &(struct visitor){visit, context});
}

void leakwrap_loader_list_release(struct leakwrap_loader_list *list)
{
	if (list)
		leakwrap_scratch_unmap(list, list->size);
}
