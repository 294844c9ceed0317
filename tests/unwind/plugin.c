/* plugin.c - a library that calls back from a frame of size FRAME. */

#ifndef FRAME
#define FRAME 64
#endif

void call(void (*function)(void));

static void __attribute__((noinline)) through(void (*function)(void), volatile char *bytes)
{
	bytes[0] = 1;
	function();
	bytes[0] = 2;
}

void call(void (*function)(void))
{
	volatile char bytes[FRAME];

	through(function, bytes);
	bytes[1] = bytes[0];
}
