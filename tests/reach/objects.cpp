// objects.cpp - C++ objects that are held by pointers into them.
#include <cstring>
#include <vector>

#include "two_bases.h"

struct Both : First, Second {
	long both = 3;
};

struct Counted {
	~Counted()
	{
	}
	long value[2];
};

static Second *volatile part;
static Counted *volatile array;
static char *volatile inside;
static Both *volatile whole;

static __attribute__((noinline)) void make()
{
	part = new Both;
	array = new Counted[7];
	inside = reinterpret_cast<char *>(new Both) + 24;
	whole = new Both;
	Both *volatile lost = new Both;
	lost = nullptr;
	(void)lost;
}

static __attribute__((noinline)) void clear_stack()
{
	volatile char room[8192];

	memset(const_cast<char *>(room), 0, sizeof(room));
}

int main()
{
	make();
	clear_stack();
	return 0;
}
