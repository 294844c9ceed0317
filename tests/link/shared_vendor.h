/* shared_vendor.h - the interface of the shared object of shared_vendor.c. */
#ifndef SHARED_VENDOR_H
#define SHARED_VENDOR_H

void by_vendor(void);
void freed_by_vendor(void *block);

#endif
