/* modules.h - the modules of a dump in an image.  Finds which file an address belongs to, what the
 * file has of memory that the image lacks, and the names of variables.
 */
#ifndef TOOLS_IMAGE_MODULES_H
#define TOOLS_IMAGE_MODULES_H

#include "tools/base/memory.h"
#include "tools/image/image.h"
#include "tools/model/model.h"
#include "tools/symbolize/elf_file.h"
#include "tools/symbolize/search.h"

/* A variable, by the symbol table. */
struct image_variable {
	uint64_t start, end;
	const char *name; /* mangled; the file's */
};

/* A module at its place. */
struct image_module {
	const struct mapping *mapping;
	uint64_t start, end;              /* of all its memory */
	struct elf_file file;             /* its DWFL is NULL if no file was found */
	struct image_variable *variables; /* by address, when they were asked for */
	size_t variable_count, variable_room;
	bool has_variables;
};

struct image_modules {
	struct image_module *all; /* by address */
	size_t count;
	struct arena arena;
};

/* Finds the files of the modules of DUMP, whose main module is modules->main.  The image takes from
 * them what it lacks.  The caller calls image_modules_close, which IMAGE must not outlive. */
struct image_modules image_modules_open(struct image *image, const struct dump *dump,
                                        const struct search *search);
void image_modules_close(struct image_modules *modules);

/* Returns the module that ADDRESS is in, or NULL. */
struct image_module *image_module_at(const struct image_modules *modules, uint64_t address);

/* Returns true if a variable of MODULE lies between START and END. */
bool image_has_variable(struct image_module *module, uint64_t start, uint64_t end);

/* Returns the variable of MODULE that holds ADDRESS, or NULL.  Its addresses are those of the
 * image. */
const struct image_variable *image_variable_at(struct image_module *module, uint64_t address);

#endif
