/* rtos.c - the allocator of FreeRTOS, which has a heap of its own or calls malloc.
 *
 * Each definition is compiled alone, like those of malloc.c. */
#include "wrap/entry/define.h"

#ifdef LEAKWRAP_ENTRY_pvPortMalloc
ENTRY_ALLOCATE(leakwrap_record_malloc, void *, pvPortMalloc, (size_t size), (size), size,
               return NULL)
#endif

#ifdef LEAKWRAP_ENTRY_pvPortCalloc
ENTRY_ALLOCATE(leakwrap_record_malloc, void *, pvPortCalloc, (size_t count, size_t size),
               (count, size), count *size, return NULL)
#endif

#ifdef LEAKWRAP_ENTRY_vPortFree
ENTRY_RELEASE(leakwrap_begin_release, vPortFree, (void *block), (block))
#endif
