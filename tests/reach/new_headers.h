/* new_headers.h - the header that an operator new puts in front of each block. */
#ifndef NEW_HEADERS_H
#define NEW_HEADERS_H

struct alignas(16) header {
	void *note;
};

header *header_of(void *block);

#endif
