/* noinline.h - NOINLINE: the compiler neither inlines the function nor makes a copy of it. */
#ifndef NOINLINE_H
#define NOINLINE_H

#if __has_attribute(noclone)
#define NOINLINE __attribute__((noinline, noclone))
#else
#define NOINLINE __attribute__((noinline))
#endif

#endif
