/* client.c - see client.h. */
#include "tools/live/client.h"

#include <poll.h>

bool client_has_left(int client)
{
	struct pollfd end = {.fd = client, .events = POLLRDHUP};
	return poll(&end, 1, 0) > 0;
}
