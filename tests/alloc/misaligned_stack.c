/* misaligned_stack.c - calls the allocator as assembler code does that keeps the stack aligned to 8
 * bytes, where the ABI wants 16.  glibc's and musl's allocators bear that.  Leaks 20 blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function CALL that hands its arguments to NAME, with 8 bytes less on the stack than a caller
 * has who keeps to the ABI. */
#define MISALIGNED(type, call, name, parameters)           \
	type call parameters;                              \
	__asm__(".pushsection .text\n"                     \
	        ".type " #call ", @function\n" #call ":\n" \
	        "	call " #name "\n"                  \
	        "	ret\n"                                   \
	        ".size " #call ", . - " #call "\n"         \
	        ".popsection\n");

MISALIGNED(void *, get, malloc, (size_t size))
MISALIGNED(void *, get_clear, calloc, (size_t count, size_t size))
MISALIGNED(void *, change, realloc, (void *block, size_t size))
MISALIGNED(char *, copy, strdup, (const char *text))
MISALIGNED(void, release, free, (void *block))

static void *volatile kept[4];

int main(void)
{
	char *text;

	for (unsigned i = 0; i < 1000; i++) {
		kept[0] = get(100 + i);
		kept[1] = get_clear(10, i + 1);
		kept[2] = change(change(NULL, 50), 5000 + i);
		kept[3] = copy("text");
		for (unsigned k = 0; i % 200 != 0 && k < 4; k++)
			release(kept[k]);
	}
	/* Floating-point numbers reach the C library. */
	if (asprintf(&text, "%.2f %d %.2f", 1.25, 3, -7.5) < 0)
		return 1;
	puts(text);
	free(text);
	return 0;
}
