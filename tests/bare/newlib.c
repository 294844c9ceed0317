/* newlib.c - a program with newlib's own start code, linker script and board support, and without
 * the tests' own. */
#include <stdio.h>
#include <stdlib.h>

#include "leakwrap_bare.h"

static uint64_t memory[1024];

static void write_error(const char *bytes, size_t size)
{
	fwrite(bytes, 1, size, stderr);
}

/* From the linker's default script. The emulated board has 128 MiB. */
extern const char __executable_start[], etext[], __end__[];

const struct leakwrap_bare leakwrap_bare = {
        .memory = memory,
        .memory_size = sizeof(memory),
        .write = write_error,
        .text_start = __executable_start,
        .text_end = etext,
        .stack_low = __end__,
        .stack_high = (const void *)(128u << 20),
        .program = "newlib",
};

static void *volatile kept;

/* Defined in newlib.cpp, if it is linked. */
void in_cxx(void) __attribute__((weak));

static void leak(size_t size)
{
	kept = malloc(size);
}

int main(void)
{
	leak(1234);
	if (in_cxx)
		in_cxx();
	printf("%f\n", 1.5); /* newlib allocates for the number */
	return 0;
}
