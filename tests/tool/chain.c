/* chain.c - three functions allocate. The compiler inlines one of them. The symbolizer's tests look
 * up their lines: the numbers stand in tests/tool/golden. */
#include <stdlib.h>

void *volatile kept;

static inline __attribute__((always_inline)) void keep_inlined(size_t size)
{
	kept = malloc(size); /* line 9 */
}

__attribute__((noinline)) void make_basket(size_t size)
{
	keep_inlined(size + 1); /* line 14 */
	kept = NULL;
}

__attribute__((noinline)) void open_shop(size_t size)
{
	make_basket(2 * size); /* line 20 */
	kept = malloc(size);   /* line 21 */
	kept = NULL;
}

int main(void)
{
	open_shop(100); /* line 27 */
	return 0;
}
