/* c_library.h - whether the C library is glibc.
 *
 * uClibc-ng defines __GLIBC__ in <features.h>, too, because its interface is glibc's.  Where
 * only the interface matters, the tracer asks for __GLIBC__.  Where glibc's own code matters, it
 * asks for LEAKWRAP_GLIBC. */
#ifndef LEAKWRAP_C_LIBRARY_H
#define LEAKWRAP_C_LIBRARY_H

#ifndef LEAKWRAP_BARE
#include <features.h>
#endif

#if defined __GLIBC__ && !defined __UCLIBC__
#define LEAKWRAP_GLIBC
#endif

#endif
