// plain_bases.cpp - holds objects by a base class that has no virtual functions, and so comes
// behind the address of the vtable.  Two pointers are no such way, and one object is lost.
#include <csignal>

#include "tests/clear_stack.h"

struct Link {
	int key = 1;
	Link *next = nullptr;
};

struct Packable {
	virtual ~Packable() = default;
};

struct Entry : Link, Packable {
	long value[4] = {};
};

struct Plain {
	long value[6] = {};
};

enum { ENTRIES = 100 };

static Link *volatile bucket;
static long *volatile member, *volatile second_word;
static void *volatile lost;

static __attribute__((noinline)) void make()
{
	for (int i = 0; i < ENTRIES; i++) {
		Link *const entry = new Entry;

		entry->next = bucket;
		bucket = entry;
	}
	member = (new Entry)->value;
	second_word = (new Plain)->value + 1;
	lost = new Entry;
	lost = nullptr;
}

int main()
{
	make();
	clear_stack();
	return raise(SIGUSR1);
}
