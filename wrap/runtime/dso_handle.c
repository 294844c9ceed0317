/* dso_handle.c - a program that is linked without the compiler's start files (-nostartfiles).
 *
 * crtbegin.o defines __dso_handle, by which handlers of exit and fork are registered for the
 * program or shared object that has them (Itanium C++ ABI, 3.3.6.3).  runtime.c needs it, and so
 * does glibc's at_quick_exit.  The linker takes this archive member only if nothing in front of the
 * archive defines the symbol.  The definition is weak, because crtbegin.o may come behind the
 * archive: Free Pascal names it there. */

extern void *__dso_handle __attribute__((visibility("hidden"), weak));
void *__dso_handle = &__dso_handle;
