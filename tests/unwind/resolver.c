/* resolver.c - a library whose own code resolves its function (ifunc) at its first use, below the
 * loader's trampoline for lazy binding. */

void call_resolved(void (*function)(void));
void resolved(void);

static void (*while_resolving)(void);

static void does_nothing(void)
{
}

/* The loader runs it below the trampoline of lazy binding. */
static __attribute__((used)) void (*resolve(void))(void)
{
	if (while_resolving)
		while_resolving();
	return does_nothing;
}

void resolved(void) __attribute__((ifunc("resolve")));

void call_resolved(void (*function)(void))
{
	while_resolving = function;
	resolved();
	while_resolving = 0;
}
