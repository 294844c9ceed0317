/* link.c - see link.h. */
#include "tools/command/link.h"

#include <ar.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"

#include "cc_flags.h"

void add_argument(struct arguments *arguments, const char *word)
{
	GROW(arguments->all, arguments->room, arguments->count + 2);
	arguments->all[arguments->count++] = (char *)(uintptr_t)word;
	arguments->all[arguments->count] = NULL;
}

void add_allocators(struct link *link, const char *list, struct arena *arena)
{
	link->allocators =
	        link->allocators ? arena_format(arena, "%s %s", link->allocators, list) : list;
}

/* -- the archive ------------------------------------------------------------------------------- */

/* What a thin archive begins with: its members are files beside it (ar(1), --thin). */
static const char thin_magic[] = "!<thin>\n";

/* Ends the tool with a message if PATH, which LEAKWRAP_LIB names, is no archive. */
static void check_archive(const char *path)
{
	char magic[SARMAG] = "";
	const int fd = open_regular(path);
	const bool is_file = fd >= 0 || errno == EINVAL;

	if (!is_file)
		die("LEAKWRAP_LIB=%s: %s", path, strerror(errno));
	if (fd < 0 || read(fd, magic, SARMAG) != SARMAG ||
	    (memcmp(magic, ARMAG, SARMAG) != 0 && memcmp(magic, thin_magic, SARMAG) != 0))
		die("LEAKWRAP_LIB=%s is no archive: it must name a libleakwrap.a", path);
	close(fd);
}

static const char *find_archive(struct arena *arena)
{
	const char *named = getenv("LEAKWRAP_LIB");
	if (named && *named) {
		check_archive(named);
		return named;
	}
	char tool[4096];
	ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 1);
	if (length > 0) {
		tool[length] = '\0';
		*strrchr(tool, '/') = '\0';
		const char *beside = arena_format(arena, "%s/libleakwrap.a", tool);
		if (access(beside, R_OK) == 0)
			return beside;
		char *slash = strrchr(tool, '/');
		const char *installed = arena_format(arena, "%.*s/lib/libleakwrap.a",
		                                     slash ? (int)(slash - tool) : 0, tool);
		if (access(installed, R_OK) == 0)
			return installed;
	}
	die("libleakwrap.a is neither beside this tool nor installed; LEAKWRAP_LIB names it");
}

const char *link_archive(struct arena *arena)
{
	const char *archive = find_archive(arena);
	/* The path stands in -Wl,--start-group,PATH,--end-group. */
	if (strchr(archive, ','))
		die("%s has a comma in its path, at which compilers split linker flags: let "
		    "LEAKWRAP_LIB name it through a symbolic link to its folder",
		    archive);
	return archive;
}

/* -- files made for this program ------------------------------------------------------------- */

/* Returns the path of generate.sh, which is beside ARCHIVE or where make install put it. */
static const char *find_generator(struct arena *arena, const char *archive)
{
	static const char *const places[] = {"generator", "../share/leakwrap/generator"};
	int folder = (int)(base_name(archive) - archive);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *script =
		        arena_format(arena, "%.*s%s/generate.sh", folder, archive, places[i]);
		if (access(script, R_OK) == 0)
			return script;
	}
	die("generate.sh is not beside %s; make install puts it into share/leakwrap/generator",
	    archive);
}

/* Makes FOLDER if it is not there.  Returns true if it is a folder in which nobody but this user
 * may write. */
static bool make_folder(const char *folder)
{
	struct stat status;
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return false;
	return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Returns the folder of the cache, which it makes if necessary. */
static const char *cache_folder(struct arena *arena)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *folder;
	if (!cache || cache[0] != '/')
		cache = home && home[0] == '/' ? arena_format(arena, "%s/.cache", home) : NULL;
	if (cache) {
		mkdir(cache, 0700);
		folder = arena_format(arena, "%s/leakwrap", cache);
		if (make_folder(folder) && access(folder, W_OK) == 0)
			return folder;
	}
	folder = arena_format(arena, "/tmp/leakwrap-%u", (unsigned)geteuid());
	if (!make_folder(folder))
		die("%s cannot be used; XDG_CACHE_HOME names another folder for what is made",
		    folder);
	return folder;
}

static uint64_t hash_text(uint64_t seed, const char *text)
{
	return hash_bytes(seed, text ? text : "", text ? strlen(text) + 1 : 0);
}

/* Adds the size and the time of the file PATH to HASH, if it is there. */
static uint64_t hash_file(uint64_t hash, const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return hash;
	hash = hash_word(hash, (uint64_t)status.st_size);
	hash = hash_word(hash, (uint64_t)status.st_mtim.tv_sec);
	return hash_word(hash, (uint64_t)status.st_mtim.tv_nsec);
}

/* Adds WORD of a compiler's command to HASH, and the file that it names as a command. */
static uint64_t hash_command(uint64_t hash, struct arena *arena, const char *word)
{
	hash = hash_text(hash, word);
	if (strchr(word, '/'))
		return hash_file(hash, word);
	for (const char *folders = getenv("PATH"); folders && *folders;) {
		const size_t length = strcspn(folders, ":");
		const char *path = arena_format(arena, "%.*s/%s", (int)length, folders, word);
		if (length > 0 && access(path, X_OK) == 0)
			return hash_file(hash, path);
		folders += length + (folders[length] == ':');
	}
	return hash;
}

/* Returns the path in the cache, without a suffix, of the files for LINK.  The name is a hash of
 * what the files depend on: what LINK asks for, the compiler, the runtime and the GENERATOR.  Each
 * file counts by its size and time. */
static const char *cached_name(struct arena *arena, const struct link *link, const char *archive,
                               const char *generator)
{
	static const char *const of_generator[] = {"generate.sh", "check_options.awk", "wrapper.h",
	                                           "flags", "options"};
	const int folder = (int)(base_name(generator) - generator);
	uint64_t hash = hash_text(hash_text(0, link->allocators), generator);
	hash = hash_text(hash_word(hash, link->options != NULL), link->options);
	for (size_t i = 0; i < link->compiler.count; i++)
		hash = hash_command(hash, arena, link->compiler.all[i]);
	hash = hash_file(hash, archive);
	for (size_t i = 0; i < sizeof of_generator / sizeof *of_generator; i++)
		hash = hash_file(hash,
		                 arena_format(arena, "%.*s%s", folder, generator, of_generator[i]));
	return arena_format(arena, "%s/%016llx", cache_folder(arena), (unsigned long long)hash);
}

enum { CACHE_SECONDS = 7 * 24 * 60 * 60 };

/* Removes the files of the cache FOLDER that no link has used for CACHE_SECONDS. */
static void clean_cache(const char *folder)
{
	DIR *files = opendir(folder);
	struct stat status;
	time_t oldest = time(NULL) - CACHE_SECONDS;
	if (!files)
		return;
	for (struct dirent *file; (file = readdir(files)) != NULL;)
		if (fstatat(dirfd(files), file->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode) && status.st_mtime < oldest)
			unlinkat(dirfd(files), file->d_name, 0);
	closedir(files);
}

/* Marks NAME.a and NAME.flags as used now. */
static void touch_cached(struct arena *arena, const char *name)
{
	utimensat(AT_FDCWD, arena_format(arena, "%s.a", name), NULL, 0);
	utimensat(AT_FDCWD, arena_format(arena, "%s.flags", name), NULL, 0);
}

bool run_command(char *const *words, int output, int errors)
{
	int status;
	pid_t child = fork();
	if (child < 0)
		die("fork: %s", strerror(errno));
	if (child == 0) {
		const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
		dup2(nothing, STDIN_FILENO);
		dup2(output, STDOUT_FILENO);
		dup2(errors, STDERR_FILENO);
		execvp(words[0], words);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Makes the files NAME.a and NAME.flags for LINK unless they are in the cache.  Returns NAME. */
static const char *generate(struct arena *arena, const struct link *link, const char *archive)
{
	const char *generator = find_generator(arena, archive);
	const char *name =
	        link->output ? link->output : cached_name(arena, link, archive, generator);
	const char *flags = arena_format(arena, "%s.flags", name);
	struct arguments command = {0};

	const char *made = arena_format(arena, "%s.a", name);
	if (!link->output && access(flags, R_OK) == 0 && access(made, R_OK) == 0) {
		touch_cached(arena, name);
		return name;
	}
	if (!link->output)
		clean_cache(arena_format(arena, "%.*s", (int)(base_name(name) - name), name));
	add_argument(&command, "sh");
	add_argument(&command, generator);
	add_argument(&command, arena_format(arena, "--output=%s", name));
	if (link->allocators)
		add_argument(&command, arena_format(arena, "--allocator=%s", link->allocators));
	if (link->options)
		add_argument(&command, arena_format(arena, "--options=%s", link->options));
	add_argument(&command, "--");
	for (size_t i = 0; i < link->compiler.count; i++)
		add_argument(&command, link->compiler.all[i]);
	if (!run_command(command.all, STDERR_FILENO, STDERR_FILENO))
		exit(STATUS_USAGE);
	free(command.all);
	return name;
}

void make_inputs(struct link *link, struct arena *arena)
{
	if (link->allocators || link->options)
		link->inputs = generate(arena, link, link_archive(arena));
}

/* -- the words --------------------------------------------------------------------------------- */

/* Returns the folder of libleakwrap_process.so, which is beside ARCHIVE.  Returns NULL if there is
 * none. */
static const char *find_process_folder(struct arena *arena, const char *archive)
{
	static const char *const places[] = {"process", "leakwrap"};
	int folder = (int)(base_name(archive) - archive);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const char *found = arena_format(arena, "%.*s%s", folder, archive, places[i]);
		if (access(arena_format(arena, "%s/libleakwrap_process.so", found), R_OK) == 0)
			return found;
	}
	return NULL;
}

/* Returns FLAG with TEXT in the place of MARK, or FLAG itself if it does not have MARK. */
static const char *fill_in(struct arena *arena, const char *flag, const char *mark,
                           const char *text)
{
	const char *at = strstr(flag, mark);
	return at ? arena_format(arena, "%.*s%s%s", (int)(at - flag), flag, text, at + strlen(mark))
	          : flag;
}

/* Adds FLAGS, with ARCHIVE in the place of the mark @LIB@, and the folder PROCESS in the place of
 * @PROCESS@.  PROCESS NULL: leaves out the flag with @PROCESS@. */
static void add_flags(struct arguments *arguments, struct arena *arena, const char *const *flags,
                      const char *archive, const char *process)
{
	for (; *flags; flags++)
		if (!strstr(*flags, "@PROCESS@"))
			add_argument(arguments, fill_in(arena, *flags, "@LIB@", archive));
		else if (process)
			add_argument(arguments, fill_in(arena, *flags, "@PROCESS@", process));
}

/* Returns the flags that link the runtime, in a group with the C++ library of LINK. */
static const char *const *libraries_for(const struct link *link)
{
	/* These flags end with -Bdynamic, which takes shared libraries into a static program. */
	bool only_cxx_static = link->has_static_libstdcxx && !link->is_static;

	if (!link->is_cxx)
		return ldlibs;
	if (link->has_libcxx)
		return only_cxx_static ? libcxx_static_ldlibs : libcxx_ldlibs;
	return only_cxx_static ? cxx_static_ldlibs : cxx_ldlibs;
}

const char *link_first_word(const struct link *link, struct arena *arena)
{
	const char *process = find_process_folder(arena, link_archive(arena));

	if (link->is_static || !process)
		return NULL;
	/* The compiler does not count it among the input files, by which it names others. */
	const char *word = arena_format(arena, "-Wl,%s/keep_allocator.o", process);
	return access(word + strlen("-Wl,"), R_OK) == 0 ? word : NULL;
}

void add_link_words(const struct link *link, struct arguments *arguments, struct arena *arena)
{
	const char *archive = link_archive(arena);
	const char *process = link->is_program_only ? NULL : find_process_folder(arena, archive);

	add_flags(arguments, arena, ldflags, archive, process);
	if (link->is_lld)
		add_flags(arguments, arena, link->is_cxx ? lld_cxx_ldflags : lld_ldflags, archive,
		          process);
	/* clang's sanitizers refer to it weakly, and call it for the names in their reports. */
	if (link->is_cxx && link->is_sanitized)
		add_argument(arguments, "-Wl,-u,__wrap___cxa_demangle");
	if (link->inputs) {
		add_argument(arguments, arena_format(arena, "@%s.flags", link->inputs));
		add_argument(arguments, arena_format(arena, "%s.a", link->inputs));
	}
	/* rustc writes -Bdynamic behind its libraries, and -lc would be the shared C library. */
	if (link->is_static)
		add_argument(arguments, "-Wl,-Bstatic");
	add_flags(arguments, arena, libraries_for(link), archive, process);
	/* On processors of 32 bits the runtime calls it to divide. */
	if (link->has_gcc_library)
		add_argument(arguments, "-lgcc");
}
