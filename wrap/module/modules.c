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

/* What dl_iterate_phdr tells, copied while the loader's lock is held: its strings may vanish after. */
struct listing {
	char *next, *end; /* scratch memory for the paths */
	unsigned count, most;
	bool is_full;
	struct leakwrap_module module[];
};

/* At first as little as most programs need: there may be no room for more when the program has come to the limit of its address
 * space.  In so many bytes so many modules. */
#define LISTING_SIZE ((size_t)64 << 10)
#define LISTING_MAX  64u

/* A module that was ever seen, and a snapshot that was ever current.  A daemon that loads and unloads plugins for years may come to
 * very many of both: they are found by hashing. */
struct module_record {
	struct leakwrap_module module;
	struct module_record *next;   /* newest first */
	struct module_record *beside; /* others with the same start */
	UT_hash_handle hh; /* by module.start; of those with the same start the first one has it */
};

struct snapshot {
	UT_hash_handle hh; /* by its modules */
	struct leakwrap_modules modules;
};

static struct snapshot no_modules;

static struct {
	struct module_record *_Atomic newest;
	struct module_record *_Atomic program;
	struct module_record *by_start;  /* uthash */
	struct snapshot *snapshots;      /* uthash */
	const struct snapshot *at_start; /* or none, where they may be unloaded */
	unsigned _Atomic generation;
	_Atomic unsigned count;
	_Atomic unsigned long readings; /* of the loader's list that have begun */
	unsigned long latest;           /* of those that have ended, the last one to begin */
	bool traces_program;            /* the runtime is part of the program itself */
} known = {.at_start = &no_modules};

const struct leakwrap_modules *_Atomic leakwrap_modules_current = &no_modules.modules;

/* -- reading the loader's list ------------------------------------------------------------------- */

/* ELF notes are three words, the name and the description, both padded to four bytes (System V ABI,
 * chapter 5, "Note Section"); the build-id is of type NT_GNU_BUILD_ID and of the owner "GNU". */
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

/* The unwind tables may be followed only inside the segment that they begin in: behind it may lie a hole. */
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

/* A sum of what lies at the beginning of MODULE: its ELF header and the first program headers, which are mapped and unmapped with all the
 * rest, and tell it from another one that takes its place. */
static uint32_t sum_of_headers(const struct leakwrap_module *module)
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

/* Was the program started by way of its loader (ld.so(8): ld.so PROGRAM)?  Then that is what the kernel executed, and it has put no other
 * there. */
static bool is_started_by_loader(const struct dl_phdr_info *program)
{
	for (unsigned i = 0; i < program->dlpi_phnum; i++)
		if (program->dlpi_phdr[i].p_type == PT_INTERP)
			return leakwrap_auxiliary(AT_BASE) == 0;
	return false;
}

/* By what the program INFO was started, in PATH; a relative path behind the folder that it was started in.  musl's loader tells what it was
 * told, glibc's in the place of what the kernel said. */
static size_t read_started_as(const struct dl_phdr_info *info, bool by_loader, char *path, size_t size)
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

/* The program has no name in the loader's list: "" in glibc, /proc/self/exe in static musl programs.  Never empty, for then
 * its frames could not be read.  It keeps the first name that it has: its file may be deleted, or /proc go out of reach. */
static size_t read_program_path(const struct dl_phdr_info *info, char *path, size_t size)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();
	const bool by_loader = is_started_by_loader(info);
	ssize_t length = program || by_loader ? 0 : readlink("/proc/self/exe", path, size - 1);

	if (program) {
		length = (ssize_t)strnlen(program->path, size - 1);
		memcpy(path, program->path, (size_t)length);
	} else if (length <= 0) { /* no /proc, or it leads to the loader */
		length = (ssize_t)read_started_as(info, by_loader, path, size);
	}
	path[length] = '\0';
	return (size_t)length;
}

static int list_module(struct dl_phdr_info *info, size_t info_size, void *context)
{
	struct listing *listing = context;
	struct leakwrap_module *module = &listing->module[listing->count];
	size_t room = (size_t)(listing->end - listing->next);
	size_t length = strlen(info->dlpi_name);

	(void)info_size;
	if (listing->count == listing->most || length + 1 > room) {
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
	module->headers = sum_of_headers(module);
	if (module->main)
		length = read_program_path(info, listing->next, room);
	else
		memcpy(listing->next, info->dlpi_name, length + 1);
	module->path = listing->next;
	listing->next += length + 1;
	listing->count++;
	return 0;
}

/* One that has nothing in the file, for variables that are 0, may be said to be anywhere in it. */
static bool begins_file(const ElfW(Phdr) * segment)
{
	return segment->p_type == PT_LOAD && segment->p_offset == 0 && segment->p_filesz > 0;
}

/* A static program allocates before its C library has filled in the list: then the program headers that
 * the kernel passed (AT_PHDR) tell as much. */
static void list_program(struct listing *listing)
{
	const ElfW(Phdr) *segment = (const void *)leakwrap_auxiliary(AT_PHDR);
	struct dl_phdr_info info = {.dlpi_name = "", .dlpi_phdr = segment};

	info.dlpi_phnum = (ElfW(Half))leakwrap_auxiliary(AT_PHNUM);
	if (!segment)
		return;
	/* GNU ld's static-pie programs have no PT_PHDR: the headers follow the ELF header, which is at the
	 * beginning of the file. */
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

/* The loader's list as debuggers read it, which every one has: the dynamic section's DT_DEBUG leads to it (System V
 * ABI, chapter 5, "Dynamic Section"; <link.h>, struct r_debug and struct link_map, where there is one). */
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

/* The program headers of a library lie where its file is mapped from the beginning, which is at its bias. */
static void list_all(struct listing *listing)
{
	const struct debug *debug = NULL;
	const ElfW(Dyn) * entry;

	list_program(listing);
	entry = listing->count > 0 ? listing->module[0].dynamic : NULL;
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_DEBUG)
			debug = (const void *)entry->d_un.d_ptr;
	for (const struct loaded *loaded = debug ? debug->first : NULL; loaded; loaded = loaded->next) {
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

/* -- publishing ---------------------------------------------------------------------------------- */

static bool is_same(const struct leakwrap_module *a, const struct leakwrap_module *b)
{
	return a->start == b->start && a->end == b->end && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 && a->headers == b->headers &&
	       strcmp(a->path, b->path) == 0;
}

/* Is LISTED never unloaded?  Nothing is that was there when the program started.  But where the runtime is part of a shared object,
 * others may have been loaded in front of it. */
static bool is_permanent(const struct leakwrap_module *listed)
{
	const bool holds_runtime = (uintptr_t)list_module - listed->start < listed->end - listed->start;

	if (listed->main)
		known.traces_program = holds_runtime;
	return atomic_load(&leakwrap_modules_current) == &no_modules.modules &&
	       (known.traces_program || listed->main || holds_runtime);
}

/* Makes RECORD be found, FIRST is the first one with its start or NULL.  False when there is no memory. */
static bool add_by_start(struct module_record *record, struct module_record *first)
{
	if (first) {
		record->beside = first->beside;
		first->beside = record;
		return true;
	}
	leakwrap_tables_failed = false;
	HASH_ADD(hh, known.by_start, module.start, sizeof(record->module.start), record);
	return !leakwrap_tables_failed;
}

/* The lock is held. */
static const struct leakwrap_module *find_or_add(const struct leakwrap_module *listed)
{
	const struct leakwrap_module *current = leakwrap_module_at(listed->start);
	struct module_record *first, *record;
	size_t length = strlen(listed->path) + 1;
	char *path;

	/* Nearly all of them are loaded already. */
	if (current && is_same(current, listed))
		return current;
	HASH_FIND(hh, known.by_start, &listed->start, sizeof(listed->start), first);
	for (record = first; record; record = record->beside)
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
	/* 1 is the program's, also if there was no memory for it when the others were listed. */
	if (known.count == 0)
		known.count = 1;
	record->module.number = listed->main ? 1 : known.count + 1;
	record->module.permanent = is_permanent(listed);
	record->next = atomic_load(&known.newest);
	atomic_store_explicit(&known.newest, record, memory_order_release);
	if (listed->main)
		atomic_store_explicit(&known.program, record, memory_order_release);
	else
		known.count++;
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

/* The snapshot of the COUNT modules MODULE, or NULL when there is no memory.  A program that loads and unloads the same plugin for ever
 * comes back to the same few. */
static struct snapshot *find_or_add_snapshot(const struct leakwrap_module *const *module,
                                             unsigned count)
{
	const size_t size = count * sizeof(module[0]);
	struct snapshot *snapshot;

	HASH_FIND(hh, known.snapshots, module, size, snapshot);
	if (snapshot)
		return snapshot;
	snapshot = leakwrap_arena_take(sizeof(*snapshot) + size);
	if (!snapshot)
		return NULL;
	snapshot->modules.count = count;
	memcpy(snapshot->modules.module, module, size);
	leakwrap_tables_failed = false;
	HASH_ADD_KEYPTR(hh, known.snapshots, snapshot->modules.module, size, snapshot);
	return leakwrap_tables_failed ? NULL : snapshot;
}

/* The lock is held. */
static void make_current(const struct snapshot *snapshot)
{
	if (&snapshot->modules != atomic_load(&leakwrap_modules_current)) {
		/* Before the hints are looked at: stack_cache.c. */
		atomic_store(&leakwrap_modules_current, &snapshot->modules);
		atomic_fetch_add(&known.generation, 1);
		leakwrap_stack_cache_flush();
	}
}

/* Is everything that the current snapshot lists still there? */
static bool is_current_there(void)
{
	const struct leakwrap_modules *current = leakwrap_modules();

	for (unsigned i = 0; i < current->count; i++)
		if (!current->module[i]->permanent && !leakwrap_module_is_there(current->module[i]))
			return false;
	return true;
}

/* There was no memory for the new list.  Where a module was that has been unloaded, another one may be by now, of which nothing is known.
 * The lock is held. */
static void publish_what_is_certain(void)
{
	if (!is_current_there())
		make_current(known.at_start);
}

/* The lock is held. */
static void publish(struct listing *listing)
{
	const struct leakwrap_module **module =
	        (const struct leakwrap_module **)&listing->module[listing->most];
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
		publish_what_is_certain();
		return;
	}
	if (first && known.traces_program)
		known.at_start = snapshot;
	make_current(snapshot);
}

/* The loader's list, and behind its modules the places for as many pointers, in *SIZE bytes of scratch memory; *READING is its turn.
 * NULL when there is no memory. */
static struct listing *list_loaded(size_t *size, unsigned long *reading)
{
	for (*size = LISTING_SIZE;; *size *= 2) {
		struct listing *listing;

		*reading = atomic_fetch_add(&known.readings, 1) + 1;
		listing = leakwrap_scratch_map(*size);
		if (!listing)
			return NULL;
		listing->most = LISTING_MAX * (unsigned)(*size / LISTING_SIZE);
		listing->end = (char *)listing + *size;
		listing->next = (char *)&listing->module[listing->most] +
		                listing->most * sizeof(const struct leakwrap_module *);
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
	unsigned long reading;
	struct listing *listing = list_loaded(&size, &reading);

	leakwrap_lock(&leakwrap_tables_lock);
	/* Of two threads, the one that began to read later knows of all that the other does. */
	if (reading > known.latest) {
		known.latest = reading;
		if (listing)
			publish(listing);
		else
			publish_what_is_certain();
	}
	leakwrap_unlock(&leakwrap_tables_lock);
	if (listing)
		leakwrap_scratch_unmap(listing, size);
	errno = saved;
}

unsigned leakwrap_modules_count(void)
{
	return atomic_load_explicit(&known.count, memory_order_acquire);
}

const struct leakwrap_module *leakwrap_module_of_program(void)
{
	struct module_record *program = atomic_load_explicit(&known.program, memory_order_acquire);

	return program ? &program->module : NULL;
}

const struct leakwrap_module *leakwrap_module_numbered(unsigned number)
{
	struct module_record *record = atomic_load_explicit(&known.newest, memory_order_acquire);

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
	return sum_of_headers(module) == module->headers;
}

/* -- looking up ---------------------------------------------------------------------------------- */

unsigned leakwrap_modules_generation(void)
{
	return atomic_load_explicit(&known.generation, memory_order_acquire);
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

/* Is MODULE certainly still there? */
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
	struct module_record *record = atomic_load_explicit(&known.newest, memory_order_acquire);

	for (; !module && record; record = record->next)
		if (address - record->module.start < record->module.end - record->module.start)
			module = &record->module;
	return module;
}
