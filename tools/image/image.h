/* image.h - the memory of a traced program at one moment, from a file.
 *
 * An image is parts, in the order of their addresses.  Bytes that the file lacks cannot be read,
 * unless the file of a module has them (image_back).  Words have the size of the program's
 * addresses, the lowest byte first.
 */
#ifndef TOOLS_IMAGE_IMAGE_H
#define TOOLS_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of memory with the same permissions. */
struct image_part {
	uint64_t start, end;
	const unsigned char *bytes; /* of the first LENGTH bytes */
	uint64_t length;            /* what the file has of the part */
	bool is_readable, is_writable, is_code;
};

/* A thread as it stood. */
struct image_thread {
	unsigned long id;
	uint64_t sp;
	uint64_t thread_pointer; /* 0: not known */
	/* Its registers, and its floating-point and vector registers: pieces of the file. */
	struct image_registers {
		const unsigned char *bytes;
		size_t size;
	} * registers;
	size_t register_count, register_room;
};

struct image {
	const char *name;      /* of the file, for messages */
	bool is_core;          /* a core file, not bare memory */
	uint64_t word;         /* bytes of an address: 4 or 8 */
	int machine;           /* EM_… */
	unsigned long process; /* 0: not known */
	struct image_part *parts;
	size_t part_count, part_room;
	/* Constant memory that the file lacks, from the files of modules.  By address. */
	struct image_part *backing;
	size_t backing_count, backing_room;
	struct image_thread *threads;
	size_t thread_count, thread_room;
	uint64_t headers,
	        header_count; /* the program's headers (AT_PHDR, AT_PHNUM); 0: not known */
	uint64_t main_stack;  /* an address in the main thread's stack; 0: not known */
	struct image_map {
		void *bytes;
		size_t size;
	} * maps; /* the files in memory */
	size_t map_count, map_room;
};

/* Reads the core file PATH.  Returns false after a message if it is none, or none of a machine that
 * is known.  After success the caller calls image_free. */
bool image_read_core(struct image *image, const char *path);

/* Does what image_read_core does, for the SIZE bytes at BYTES, which must outlive IMAGE. */
bool image_parse_core(struct image *image, const char *name, const void *bytes, size_t size);

/* Returns the name of MACHINE, EM_…, with addresses of WORD bytes. */
const char *image_machine_name(int machine, uint64_t word);

/* Adds the memory that WHERE names, "ADDRESS:FILE": a file with the bytes from there on.  Returns
 * false after a message if it cannot be used.  The caller sets the machine, and calls image_free in
 * any case. */
bool image_add_ram(struct image *image, const char *where);

/* Maps the file PATH until image_free.  Returns false after a message if that fails. */
bool image_map_file(struct image *image, const char *path, const unsigned char **bytes,
                    size_t *size);

/* Adds SIZE bytes of memory at START from the file of a module, for where IMAGE has none.  IS_CODE:
 * they can be executed. */
void image_back(struct image *image, uint64_t start, const unsigned char *bytes, uint64_t size,
                bool is_code);

void image_free(struct image *image);

/* Returns true if what is at ADDRESS can be executed.  Some core files lack such memory: then a
 * module's file tells. */
bool image_is_code(const struct image *image, uint64_t address);

/* Returns the part that ADDRESS is in, or NULL. */
const struct image_part *image_part_at(const struct image *image, uint64_t address);

/* Returns how many bytes can be read from ADDRESS on, and sets *BYTES to them.  0: none. */
uint64_t image_bytes(const struct image *image, uint64_t address, const unsigned char **bytes);

/* Returns the first address from ADDRESS on that can be read, or UINT64_MAX. */
uint64_t image_next(const struct image *image, uint64_t address);

/* Returns the word at ADDRESS, or 0 if it cannot be read. */
uint64_t image_word(const struct image *image, uint64_t address);

/* Returns ADDRESS without the bits that the processor ignores: the top byte of AArch64
 * (wrap/arch/aarch64.h). */
uint64_t image_untagged(const struct image *image, uint64_t address);

/* Returns the address in the lower bits of WORD, as many as LEAKWRAP_ADDRESS_BITS says in wrap/arch
 * (wrap/reach/halves.h).  With 32 bits all bits of WORD are the address. */
uint64_t image_lower_address(const struct image *image, uint64_t word);

/* The C library describes a thread in this many bytes at the thread pointer, at most. */
enum { IMAGE_DESCRIPTION = 2560 };

/* Returns whether the C library describes a thread below the thread pointer, not above it. */
bool image_describes_below(const struct image *image);

/* Returns the word of SIZE bytes, 4 or 8, at BYTES. */
static inline uint64_t image_load(const unsigned char *bytes, uint64_t size)
{
	uint64_t word = 0;
	for (unsigned i = 0; i < size; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	return word;
}

#endif
