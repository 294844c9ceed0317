/* module_path.h - the paths of modules.
 *
 * dlopen("./plugin.so") leaves a relative path in the loader's list.  Who reads a dump later, in
 * another folder, does not find that file.  So a module has an absolute path from the time when it
 * was first listed.  The program may have gone to another folder since.
 */
#ifndef LEAKWRAP_MODULE_PATH_H
#define LEAKWRAP_MODULE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the current folder and a slash to FOLDER, of SIZE bytes, if NAME is a relative path.
 * Returns their length.  Returns 0 if NAME is absolute, has no slash, or the folder is not known:
 * then NAME stands alone.  No 0 is appended.  Signal-safe; a system call. */
size_t leakwrap_module_path_folder(const char *name, char *folder, size_t size);

/* Returns a copy of NAME, the loader's name of a module, in the arena.  It begins with the current
 * folder if NAME is relative.  Returns NULL if there is no memory.  The caller holds the tables'
 * lock. */
char *leakwrap_module_path_make(const char *name);

/* Gives PATH, which leakwrap_module_path_make has returned, back to the arena.  PATH may be NULL.
 * The caller holds the tables' lock. */
void leakwrap_module_path_free(char *path);

/* Returns true if leakwrap_module_path_make made PATH of NAME, in whatever folder.  Signal-safe. */
bool leakwrap_module_path_is_of(const char *path, const char *name);

#endif
