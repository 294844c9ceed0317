/* named.h - the allocators of named_vendor.c. */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

/* The malloc family under another prefix, with more parameters. Its memory comes from a static
 * arena. */
void *my_malloc(size_t size, const char *file, int line);
void *my_calloc(size_t count, size_t size);
void *my_realloc(void *block, size_t size);
int my_posix_memalign(void **block, size_t alignment, size_t size);
void my_free(void *block);

/* A pool whose memory comes from malloc. Its sizes have 16 bits. */
struct pool;
extern jmp_buf pool_full;
struct pool *pool_new(void);
void *pool_alloc(struct pool *pool, uint16_t size);
int pool_free(struct pool *pool, void *block);

/* Allocates blocks of 48 bytes. */
void *message_get(struct pool *pool);
