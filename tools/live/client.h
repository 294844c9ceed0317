/* client.h - the other end of a connection. */
#ifndef TOOLS_LIVE_CLIENT_H
#define TOOLS_LIVE_CLIENT_H

#include <stdbool.h>

/* Returns true if the other end of the socket CLIENT has closed the connection, or sends nothing
 * more.  Returns false if CLIENT is -1: there is no other end. */
bool client_has_left(int client);

#endif
