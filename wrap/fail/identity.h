/* identity.h - the identity of a call site over runs (report/site_identity.h). */
#ifndef LEAKWRAP_IDENTITY_H
#define LEAKWRAP_IDENTITY_H

#include <stdint.h>

/* Returns the identity of the call site SITE, which has a backtrace.  Signal-safe.  Takes 4 KiB of
 * stack on 64 bits. */
uint64_t leakwrap_site_identity(uint32_t site);

#endif
