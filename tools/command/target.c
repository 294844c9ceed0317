/* target.c - see target.h. */
#include "tools/command/target.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/files.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/elf/machine.h"

/* How the name of a target begins, and its machine. */
static const struct machine {
	const char *start;
	int machine;
} machines[] = {
        {"x86_64-", EM_X86_64},
        {"i386-", EM_386},
        {"i486-", EM_386},
        {"i586-", EM_386},
        {"i686-", EM_386},
        {"aarch64", EM_AARCH64},
        {"arm", EM_ARM},
        {"riscv", EM_RISCV},
        {"powerpc-", EM_PPC},
        {"powerpc64", EM_PPC64},
        {"mips", EM_MIPS},
        {"s390", EM_S390},
        {"loongarch", EM_LOONGARCH},
};

static const struct machine *find_machine(const char *target)
{
	for (size_t i = 0; target && i < sizeof machines / sizeof *machines; i++)
		if (strncmp(target, machines[i].start, strlen(machines[i].start)) == 0)
			return &machines[i];
	return NULL;
}

/* Returns the name of the target among the words of COMPILER: in an option, or in front of the
 * compiler's own name, "aarch64-linux-gnu-gcc".  Returns NULL if they have none, or if another
 * option chooses the processor. */
static const char *target_named(const struct arguments *compiler)
{
	const char *named = NULL;

	for (size_t i = 0; i < compiler->count; i++) {
		const char *word = compiler->all[i];
		if (strncmp(word, "--target=", 9) == 0)
			named = word + 9;
		else if (strcmp(word, "-target") == 0 && i + 1 < compiler->count)
			named = compiler->all[++i];
		else if (strcmp(word, "-m32") == 0 || strcmp(word, "-m64") == 0)
			return NULL;
		else if (word[0] != '-' && !named && find_machine(base_name(word)))
			named = base_name(word);
	}
	return named;
}

/* Returns the machine of the first object of the archive that is open as FD, or EM_NONE. */
static int machine_of(int fd)
{
	GElf_Ehdr header;
	int machine = EM_NONE;
	Elf *archive, *member;

	elf_version(EV_CURRENT);
	archive = elf_begin(fd, ELF_C_READ, NULL);
	for (Elf_Cmd next = ELF_C_READ;
	     machine == EM_NONE && (member = elf_begin(fd, next, archive)) != NULL;) {
		if (gelf_getehdr(member, &header))
			machine = header.e_machine;
		next = elf_next(member);
		elf_end(member);
	}
	elf_end(archive);
	return machine;
}

/* Returns true if the file that is open as FD has TEXT. */
static bool has_text(int fd, const char *text)
{
	struct stat status;
	bool found = false;

	if (fstat(fd, &status) != 0 || status.st_size <= 0)
		return false;
	const size_t size = to_size((uint64_t)status.st_size);
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	found = memmem(bytes, size, text, strlen(text)) != NULL;
	munmap(bytes, size);
	return found;
}

/* Returns the C library other than glibc that the compiler's command names, or NULL. */
static const char *c_library_named(const struct arguments *compiler)
{
	static const char *const libraries[] = {"musl", "uclibc"};

	for (size_t i = 0; i < compiler->count; i++)
		for (size_t j = 0; j < sizeof libraries / sizeof *libraries; j++)
			if (strstr(base_name(compiler->all[i]), libraries[j]))
				return libraries[j];
	return NULL;
}

void check_target(const struct arguments *compiler, const char *archive)
{
	const char *target = target_named(compiler);
	const struct machine *wanted = find_machine(target);
	const char *library = c_library_named(compiler);
	const int fd = wanted || library ? open(archive, O_RDONLY | O_CLOEXEC) : -1;
	const int machine = fd >= 0 ? machine_of(fd) : EM_NONE;

	if (wanted && machine != EM_NONE && machine != wanted->machine)
		die("%s is for another processor than %s: build leakwrap with its CROSS_COMPILE= "
		    "or CC=, and let LEAKWRAP_LIB name that libleakwrap.a",
		    archive, target);
	/* A runtime for glibc alone refers to it. */
	if (fd >= 0 && library && has_text(fd, "__libc_mallopt"))
		die("%s is for glibc, and the compiler links with %s: build leakwrap with its "
		    "CROSS_COMPILE= or CC=, and let LEAKWRAP_LIB name that libleakwrap.a",
		    archive, library);
	if (fd >= 0)
		close(fd);
}
