// own_new_user.cpp - uses its own operators without naming them.
#include <cstdio>
#include <new>

extern "C" __attribute__((weak)) int own_calls;

static void *volatile kept;

extern "C" __attribute__((noinline)) void by_new()
{
	kept = operator new(300);
}

int main()
{
	by_new();
	std::puts(own_calls > 0 ? "its own allocator" : "another allocator");
	return 0;
}
