/* plugin.c - an untraced shared object, which is loaded and unloaded while others allocate. The
 * program frees its blocks, and allocates through it. */
#include <stdlib.h>

void *plugin_allocates(size_t size);
void plugin_calls(void (*function)(void *), void *argument);

void *plugin_allocates(size_t size)
{
	return malloc(size);
}

void plugin_calls(void (*function)(void *), void *argument)
{
	volatile char frame[100];

	frame[0] = 1;
	function(argument);
	frame[1] = frame[0];
}
