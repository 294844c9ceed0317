/* thumb_calls.c - a Thumb function without a table allocates.  Read as ARM code, its call is a
 * call, too, and a return follows that takes the word above as return address: there is one. */
#include <stdlib.h>

void *volatile kept;
short scratch;
void *outer(size_t size, short *scratch);

/* inner: the call has the bytes of "blx" to an address below all code.  The two halves of the next
 * word are "strh r0, [r4]" and the start of "pop.w", in ARM code "pop {r5, pc}". */
__asm__(".pushsection .text\n"
        ".balign 4\n"
        ".thumb\n"
        ".thumb_func\n"
        ".type inner, %function\n"
        "inner:\n"
        "push {r3, r4, r5, lr}\n"
        "mov r4, r1\n"
        ".hword 0xf000, 0xfa80\n" /* bl allocate */
        "after: strh r0, [r4]\n"
        "pop.w {r3, r4, r5, pc}\n"
        ".size inner, . - inner\n"
        ".balign 4\n"
        ".thumb_func\n"
        ".type outer, %function\n"
        "outer:\n"
        "push {r3, r4, r5, lr}\n"
        "mov r4, lr\n"
        "bl inner\n"
        "pop {r3, r4, r5, pc}\n"
        ".size outer, . - outer\n"
        ".org after + 0x500\n"
        ".thumb_func\n"
        "allocate: b.w malloc\n"
        ".popsection");

int main(void)
{
	kept = outer(101, &scratch);
	return 0;
}
