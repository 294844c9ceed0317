/* unwind_options_bare.c - compiled without unwind tables. */
void bare(void (*next)(void));

void bare(void (*next)(void))
{
	next();
	__asm__ volatile("");
}
