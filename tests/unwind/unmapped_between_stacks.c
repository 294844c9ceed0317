/* unmapped_between_stacks.c - a thread runs a coroutine on a stack below its own (x86-64).  The
 * program has made the thread's stack, so that its lower end is not known.  The code that enters
 * the coroutine leaves no return address.  Then the memory between the two stacks is unmapped. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK ((size_t)64 << 10)

void work(void);
void enter(void *top); /* calls work on the stack that ends at TOP */
void *left;            /* the stack that enter was called on */

__asm__(".text\n"
        ".globl enter\n"
        ".type enter, @function\n"
        "enter:\n"
        "	push %rbp\n"
        "	mov %rsp, left(%rip)\n"
        "	mov %rdi, %rsp\n"
        "	xor %ebp, %ebp\n"
        "	jmp entered\n"
        ".size enter, . - enter\n"
        ".type entered, @function\n"
        "entered:\n"
        "	sub $16, %rsp\n"
        "	call work\n"
        "	add $16, %rsp\n"
        "	mov left(%rip), %rsp\n"
        "	pop %rbp\n"
        "	ret\n"
        ".size entered, . - entered\n");

void work(void)
{
	void *volatile block = malloc(10);

	free(block);
}

static void *map(void)
{
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		exit(1);
	return stack;
}

/* The kernel maps downward: the third stack lies below the second, and that stack below the
 * thread's. */
static void *thread(void *unused)
{
	char *between, *below;

	work();
	between = map();
	below = map();
	if (below + STACK != between || between > (char *)&between)
		exit(2);
	enter(below + STACK);
	munmap(between, STACK);
	enter(below + STACK);
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t id;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, (char *)map() + 64, STACK - 64) != 0)
		return 3;
	return pthread_create(&id, &attributes, thread, NULL) || pthread_join(id, NULL);
}
