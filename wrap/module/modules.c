/* modules.c - see modules.h. */
#include "wrap/module/modules.h"

#include "wrap/base/arena.h"
#include "wrap/base/common.h"
#include "wrap/port/port.h"
#include "wrap/site/stack_cache.h"
#include "wrap/base/locked_uthash.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#ifndef NT_GNU_BUILD_ID /* older <elf.h> */
#define NT_GNU_BUILD_ID 3
#endif

/* A copy of what dl_iterate_phdr reports, made under the loader's lock.  The strings that it
 * reports may be freed once it returns. */
struct listing {
	char *next, *end; /* the unused scratch memory, for paths */
	unsigned count, capacity;
	bool is_full;
	struct leakwrap_module module[];
};

/* The first size of a listing, in bytes, and the modules in it.  It is no larger than most
 * programs need: near the limit of its address space a program has no room for more. */
#define LISTING_SIZE ((size_t)64 << 10)
#define LISTING_MAX  64u

/* A module that was ever loaded.  A daemon that loads and unloads plugins for years may have very
 * many records and snapshots, so hash tables find them. */
struct module_record {
	struct leakwrap_module module;
	struct module_record *next;       /* newest first */
	struct module_record *same_start; /* the next record with the same start */
	UT_hash_handle hh; /* by module.start; of records with the same start, the first has it */
};

/* A list of modules that was ever current. */
struct snapshot {
	UT_hash_handle hh; /* by its modules */
	struct leakwrap_modules modules;
};

static struct snapshot no_modules;

static struct {
	struct module_record *_Atomic newest;
	struct module_record *_Atomic program;
	struct module_record *by_start;   /* uthash */
	struct snapshot *snapshots;       /* uthash */
	const struct snapshot *permanent; /* all modules at start; empty if they may be unloaded */
	unsigned _Atomic generation;
	_Atomic unsigned count;
	_Atomic unsigned long reads_started; /* of the loader's list */
	unsigned long last_published;        /* the read whose list was published: its turn */
	bool traces_program;                 /* the runtime is part of the program itself */
} registry = {.permanent = &no_modules};

const struct leakwrap_modules *_Atomic leakwrap_modules_current = &no_modules.modules;

/* -- reading the loader's list ----------------------------------------------------------------- */

/* Copies the build-id into MODULE if NOTE, of SIZE bytes, has it.  An ELF note is three words, the
 * name and the description, both padded to four bytes (System V ABI, chapter 5, "Note Section").
 * The build-id has the type NT_GNU_BUILD_ID and the owner "GNU". */
static void read_build_id(struct leakwrap_module *module, const char *note, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *header = (const void *)note;
		size_t name = ((size_t)header->n_namesz + 3) & ~(size_t)3;
		size_t description = ((size_t)header->n_descsz + 3) & ~(size_t)3;
		const char *id = note + sizeof(*header) + name;

		if (name > size - sizeof(*header) || description > size - sizeof(*header) - name)
			return;
		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
		    memcmp(note + sizeof(*header), "GNU", 4) == 0 &&
		    header->n_descsz <= sizeof(module->build_id)) {
			memcpy(module->build_id, id, header->n_descsz);
			module->build_id_size = (unsigned char)header->n_descsz;
			return;
		}
		note = id + description;
		size -= sizeof(*header) + name + description;
	}
}

static void add_text(struct leakwrap_module *module, uintptr_t start, uintptr_t end, bool only_runs)
{
	for (unsigned i = 0; i < LEAKWRAP_TEXTS_MAX; i++)
		if (module->text[i].end == 0) {
			module->text[i] = (struct leakwrap_text){start, end, only_runs};
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
	case PT_NOTE:
		if (module->build_id_size == 0)
			read_build_id(module, (const char *)start, segment->p_memsz);
		break;
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

/* Hashes the first 512 bytes of MODULE: its ELF header and first program headers.  They are mapped
 * and unmapped with the module, and they differ from those of a module that takes its place.
 * Returns 0 if they cannot be read. */
static uint32_t hash_headers(const struct leakwrap_module *module)
{
	const uintptr_t page = module->start & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
	uint32_t word[128], sum = 0;

	if (!leakwrap_readable(page))
		return 0;
	memcpy(word, (const void *)page, sizeof(word));
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		sum = (sum ^ word[i]) * 0x9e3779b1u;
	return sum;
}

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
	size_t used = 0, length;

	if (!name || !*name)
		name = "?";
	if (name[0] != '/' && strchr(name, '/') && getcwd(path, size - 1)) {
		used = strlen(path);
		path[used++] = '/';
	}
	length = strnlen(name, size - used - 1);
	memcpy(path + used, name, length);
	return used + length;
}

/* Writes the program's path to PATH, of SIZE bytes.  The loader's list does not have it: glibc
 * stores "", static musl programs /proc/self/exe.  The path is never empty, because then its
 * frames could not be symbolized.  The first path is kept: later the file may be deleted, or /proc
 * may be gone.  Returns the length. */
static size_t read_program_path(const struct dl_phdr_info *info, char *path, size_t size)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();
	const bool by_loader = is_started_by_loader(info);
	ssize_t length = program || by_loader ? 0 : readlink("/proc/self/exe", path, size - 1);

	if (program) {
		length = (ssize_t)strnlen(program->path, size - 1);
		memcpy(path, program->path, (size_t)length);
	} else if (length <= 0) { /* no /proc, or it names the loader */
		length = (ssize_t)read_start_name(info, by_loader, path, size);
	}
	path[length] = '\0';
	return (size_t)length;
}

/* Appends the module INFO to the struct listing CONTEXT (dl_iterate_phdr(3)).  Returns 1 to stop
 * if the listing is full. */
static int list_module(struct dl_phdr_info *info, size_t info_size, void *context)
{
	struct listing *listing = context;
	struct leakwrap_module *module = &listing->module[listing->count];
	size_t room = (size_t)(listing->end - listing->next);
	size_t length = strlen(info->dlpi_name);

	(void)info_size;
	if (listing->count == listing->capacity || length + 1 > room) {
		listing->is_full = true;
		return 1;
	}
	memset(module, 0, sizeof(*module));
	module->main = listing->count == 0;
	module->bias = info->dlpi_addr;
	module->start = UINTPTR_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		read_segment(module, &info->dlpi_phdr[i]);
	find_tables_segment(module, info->dlpi_phdr, info->dlpi_phnum);
	if (module->start >= module->end)
		return 0;
	module->headers = hash_headers(module);
	if (module->main)
		length = read_program_path(info, listing->next, room);
	else
		memcpy(listing->next, info->dlpi_name, length + 1);
	module->path = listing->next;
	listing->next += length + 1;
	listing->count++;
	return 0;
}

/* Returns true if SEGMENT maps the beginning of the file.  A segment without bytes in the file
 * (zero-initialized variables) may have any p_offset. */
static bool begins_file(const ElfW(Phdr) * segment)
{
	return segment->p_type == PT_LOAD && segment->p_offset == 0 && segment->p_filesz > 0;
}

/* Lists the program from the program headers that the kernel passed (AT_PHDR).  A static program
 * allocates before its C library has filled in the loader's list. */
static void list_program(struct listing *listing)
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
	list_module(&info, sizeof(info), listing);
}

#ifndef LEAKWRAP_NO_dl_iterate_phdr

static void list_all(struct listing *listing)
{
	dl_iterate_phdr(list_module, listing);
	if (listing->count == 0)
		list_program(listing);
}

#else

/* The loader's list as debuggers read it; every loader has it.  DT_DEBUG in the dynamic section
 * points to it (System V ABI, chapter 5, "Dynamic Section").  These are struct link_map and struct
 * r_debug of <link.h>, which not every C library has. */
struct loaded {
	uintptr_t bias;
	const char *name;
	const void *dynamic;
	const struct loaded *next;
};

struct debug {
	int version;
	const struct loaded *first; /* the program itself */
};

/* Lists the program and its libraries.  The beginning of a library's file is mapped at its bias,
 * and its ELF header leads to the program headers. */
static void list_all(struct listing *listing)
{
	const struct debug *debug = NULL;
	const ElfW(Dyn) * entry;

	list_program(listing);
	entry = listing->count > 0 ? listing->module[0].dynamic : NULL;
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_DEBUG)
			debug = (const void *)entry->d_un.d_ptr;
	for (const struct loaded *loaded = debug ? debug->first : NULL; loaded;
	     loaded = loaded->next) {
		const ElfW(Ehdr) *header = (const void *)loaded->bias;
		struct dl_phdr_info info = {.dlpi_addr = loaded->bias, .dlpi_name = loaded->name};

		if (loaded == debug->first || !leakwrap_readable(loaded->bias) ||
		    memcmp(header, ELFMAG, SELFMAG) != 0)
			continue;
		info.dlpi_phdr = (const void *)(loaded->bias + header->e_phoff);
		info.dlpi_phnum = header->e_phnum;
		list_module(&info, sizeof(info), listing);
	}
}

#endif

/* -- publishing -------------------------------------------------------------------------------- */

/* Returns true if A and B are the same file at the same address. */
static bool is_same(const struct leakwrap_module *a, const struct leakwrap_module *b)
{
	return a->start == b->start && a->end == b->end && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       a->headers == b->headers && strcmp(a->path, b->path) == 0;
}

/* Decides whether LISTED is never unloaded, and notes whether the runtime is part of the program.
 * Modules that were loaded at the program's start are never unloaded.  If the runtime is part of a
 * shared object, modules may have been loaded by dlopen before it. */
static bool decide_permanent(const struct leakwrap_module *listed)
{
	const bool holds_runtime =
	        (uintptr_t)list_module - listed->start < listed->end - listed->start;

	if (listed->main)
		registry.traces_program = holds_runtime;
	return atomic_load(&leakwrap_modules_current) == &no_modules.modules &&
	       (registry.traces_program || listed->main || holds_runtime);
}

/* Adds RECORD to the hash table.  FIRST is the first record with the same start, or NULL.  Returns
 * false if there is no memory. */
static bool add_by_start(struct module_record *record, struct module_record *first)
{
	if (first) {
		record->same_start = first->same_start;
		first->same_start = record;
		return true;
	}
	leakwrap_tables_failed = false;
	HASH_ADD(hh, registry.by_start, module.start, sizeof(record->module.start), record);
	return !leakwrap_tables_failed;
}

/* Finds or adds the record of LISTED.  Returns NULL if there is no memory.  The caller holds the
 * tables' lock. */
static const struct leakwrap_module *find_or_add(const struct leakwrap_module *listed)
{
	const struct leakwrap_module *current = leakwrap_module_at(listed->start);
	struct module_record *first, *record;
	size_t length = strlen(listed->path) + 1;
	char *path;

	/* Fast path: nearly all listed modules are in the current snapshot. */
	if (current && is_same(current, listed))
		return current;
	HASH_FIND(hh, registry.by_start, &listed->start, sizeof(listed->start), first);
	for (record = first; record; record = record->same_start)
		if (is_same(&record->module, listed))
			return &record->module;
	record = leakwrap_arena_take(sizeof(*record) + length);
	if (!record)
		return NULL;
	path = (char *)(record + 1);
	memcpy(path, listed->path, length);
	record->module = *listed;
	record->module.path = path;
	if (!add_by_start(record, first))
		return NULL;
	/* Number 1 is the program's, even if there was no memory for its record before. */
	if (registry.count == 0)
		registry.count = 1;
	record->module.number = listed->main ? 1 : registry.count + 1;
	record->module.permanent = decide_permanent(listed);
	record->next = atomic_load(&registry.newest);
	atomic_store_explicit(&registry.newest, record, memory_order_release);
	if (listed->main)
		atomic_store_explicit(&registry.program, record, memory_order_release);
	else
		registry.count++;
	return &record->module;
}

static void sort_by_address(const struct leakwrap_module **module, unsigned count)
{
	for (unsigned i = 1; i < count; i++) {
		const struct leakwrap_module *moving = module[i];
		unsigned at = i;

		for (; at > 0 && module[at - 1]->start > moving->start; at--)
			module[at] = module[at - 1];
		module[at] = moving;
	}
}

/* Finds or adds the snapshot of the COUNT modules MODULE.  A program that loads and unloads one
 * plugin again and again uses the same few snapshots.  Returns NULL if there is no memory.  The
 * caller holds the tables' lock. */
static struct snapshot *find_or_add_snapshot(const struct leakwrap_module *const *module,
                                             unsigned count)
{
	const size_t size = count * sizeof(module[0]);
	struct snapshot *snapshot;

	HASH_FIND(hh, registry.snapshots, module, size, snapshot);
	if (snapshot)
		return snapshot;
	snapshot = leakwrap_arena_take(sizeof(*snapshot) + size);
	if (!snapshot)
		return NULL;
	snapshot->modules.count = count;
	memcpy(snapshot->modules.module, module, size);
	leakwrap_tables_failed = false;
	HASH_ADD_KEYPTR(hh, registry.snapshots, snapshot->modules.module, size, snapshot);
	return leakwrap_tables_failed ? NULL : snapshot;
}

/* Publishes SNAPSHOT if it is not current.  The caller holds the tables' lock. */
static void make_current(const struct snapshot *snapshot)
{
	if (&snapshot->modules != atomic_load(&leakwrap_modules_current)) {
		/* Store before the flush: swap_to_front in stack_cache.c depends on it. */
		atomic_store(&leakwrap_modules_current, &snapshot->modules);
		atomic_fetch_add(&registry.generation, 1);
		leakwrap_stack_cache_flush();
	}
}

/* Returns true if all modules of the current snapshot are still loaded. */
static bool is_current_loaded(void)
{
	const struct leakwrap_modules *current = leakwrap_modules();

	for (unsigned i = 0; i < current->count; i++)
		if (!current->module[i]->permanent && !leakwrap_module_is_there(current->module[i]))
			return false;
	return true;
}

/* Publishes the permanent modules alone if a listed module was unloaded.  Called if there is no
 * memory for the new list: an unlisted module may lie where the old one was.  The caller holds the
 * tables' lock. */
static void publish_permanent(void)
{
	if (!is_current_loaded())
		make_current(registry.permanent);
}

/* Publishes the modules of LISTING.  The caller holds the tables' lock. */
static void publish(struct listing *listing)
{
	const struct leakwrap_module **module =
	        (const struct leakwrap_module **)&listing->module[listing->capacity];
	const bool first = leakwrap_modules() == &no_modules.modules;
	const struct snapshot *snapshot;
	unsigned count = 0;

	for (unsigned i = 0; i < listing->count; i++) {
		module[count] = find_or_add(&listing->module[i]);
		count += module[count] != NULL;
	}
	sort_by_address(module, count);
	snapshot = find_or_add_snapshot(module, count);
	if (!snapshot) {
		publish_permanent();
		return;
	}
	if (first && registry.traces_program)
		registry.permanent = snapshot;
	make_current(snapshot);
}

/* Reads the loader's list into *SIZE bytes of scratch memory, which the caller unmaps.  Room for a
 * pointer per module follows the modules.  *TURN is the number of this read.  Returns NULL if
 * there is no memory. */
static struct listing *list_loaded(size_t *size, unsigned long *turn)
{
	for (*size = LISTING_SIZE;; *size *= 2) {
		struct listing *listing;

		*turn = atomic_fetch_add(&registry.reads_started, 1) + 1;
		listing = leakwrap_scratch_map(*size);
		if (!listing)
			return NULL;
		listing->capacity = LISTING_MAX * (unsigned)(*size / LISTING_SIZE);
		listing->end = (char *)listing + *size;
		listing->next = (char *)&listing->module[listing->capacity] +
		                listing->capacity * sizeof(const struct leakwrap_module *);
		list_all(listing);
		if (!listing->is_full)
			return listing;
		leakwrap_scratch_unmap(listing, *size);
	}
}

void leakwrap_modules_refresh(void)
{
	int saved = errno;
	size_t size;
	unsigned long turn;
	struct listing *listing = list_loaded(&size, &turn);

	leakwrap_lock(&leakwrap_tables_lock);
	/* Of two threads, the later reader has seen every change that the earlier reader saw. */
	if (turn > registry.last_published) {
		registry.last_published = turn;
		if (listing)
			publish(listing);
		else
			publish_permanent();
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	if (listing)
		leakwrap_scratch_unmap(listing, size);
	errno = saved;
}

unsigned leakwrap_modules_count(void)
{
	return atomic_load_explicit(&registry.count, memory_order_acquire);
}

const struct leakwrap_module *leakwrap_module_of_program(void)
{
	struct module_record *program =
	        atomic_load_explicit(&registry.program, memory_order_acquire);

	return program ? &program->module : NULL;
}

const struct leakwrap_module *leakwrap_module_numbered(unsigned number)
{
	struct module_record *record = atomic_load_explicit(&registry.newest, memory_order_acquire);

	while (record && record->module.number != number)
		record = record->next;
	return record ? &record->module : NULL;
}

bool leakwrap_modules_are_program_alone(void)
{
	const struct leakwrap_modules *modules = leakwrap_modules();
	uintptr_t vdso = (uintptr_t)leakwrap_auxiliary(AT_SYSINFO_EHDR);

	for (unsigned i = 0; i < modules->count; i++)
		if (!modules->module[i]->main && modules->module[i]->start != vdso)
			return false;
	return modules->count > 0;
}

bool leakwrap_module_is_there(const struct leakwrap_module *module)
{
	return hash_headers(module) == module->headers;
}

/* -- looking up -------------------------------------------------------------------------------- */

unsigned leakwrap_modules_generation(void)
{
	return atomic_load_explicit(&registry.generation, memory_order_acquire);
}

const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address)
{
	unsigned first = 0, behind = modules->count;

	while (first < behind) {
		unsigned middle = (first + behind) / 2;
		const struct leakwrap_module *module = modules->module[middle];

		if (address < module->start)
			behind = middle;
		else if (address >= module->end)
			first = middle + 1;
		else
			return module;
	}
	return NULL;
}

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	return leakwrap_module_among(leakwrap_modules(), address);
}

/* Returns true if MODULE is certainly still loaded. */
static bool is_loaded(const struct leakwrap_module *module)
{
	return module->permanent || (module->headers != 0 && leakwrap_module_is_there(module));
}

const struct leakwrap_segment *leakwrap_segment_at(uintptr_t address)
{
	const struct leakwrap_module *module = leakwrap_module_at(address);

	for (unsigned i = 0; module && i < LEAKWRAP_SEGMENTS_MAX; i++) {
		const struct leakwrap_segment *segment = &module->segment[i];

		if (address >= segment->start && address < segment->end)
			return is_loaded(module) ? segment : NULL;
	}
	return NULL;
}

const struct leakwrap_module *leakwrap_module_ever_at(uintptr_t address)
{
	const struct leakwrap_module *module = leakwrap_module_at(address);
	struct module_record *record = atomic_load_explicit(&registry.newest, memory_order_acquire);

	for (; !module && record; record = record->next)
		if (address - record->module.start < record->module.end - record->module.start)
			module = &record->module;
	return module;
}
