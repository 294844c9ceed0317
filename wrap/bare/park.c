/* park.c - see park.h.  While the lock is held, no other code runs. */
#include "wrap/reach/park.h"

#include "wrap/bare/bare_port.h"
#include "wrap/port/port.h"

static struct leakwrap_lock lock;

unsigned leakwrap_park(void)
{
	leakwrap_lock(&lock);
	leakwrap_lock_is_held = true;
	return 0;
}

void leakwrap_unpark(void)
{
	leakwrap_lock_is_held = false;
	leakwrap_unlock(&lock);
}
