/* new_calls_malloc.cpp - operators new, which call malloc.
 *
 *   new_calls_malloc forms       every form of new, in a loop: four blocks of each stay
 *   new_calls_malloc stacks N    N different stacks that call new; prints how many walks that took
 *   new_calls_malloc throws      new fails and throws, then a library allocates at other depths
 *   new_calls_malloc handler     new fails ten times, and the new handler keeps 60 blocks
 *   new_calls_malloc switched    switches to sampling ten times, and allocates two blocks each
 *                                time; prints how many are recorded
 *
 * With OWN_NEW the program has operators of its own: they allocate a note for each block, too. */
#include "leakwrap.h"
#include "tests/noinline.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

enum { KEPT = 4, ROUNDS = 200 };

/* The runtime's own (loss.h): how often it walked. */
extern "C" unsigned long leakwrap_walks;

static void *volatile sink;
static volatile size_t too_large = ~(size_t)0 / 16 * 15;

#ifdef OWN_NEW

static void *notes[100000];
static unsigned note_count;

/* One function for both, so that both calls of malloc come from the same place. */
static NOINLINE void *take(size_t size)
{
	void *memory = malloc(size);

	asm volatile("");
	return memory;
}

void *operator new(size_t size)
{
	notes[note_count++] = take(24);
	return take(size);
}

void operator delete(void *block) noexcept
{
	free(block);
}

void operator delete(void *block, size_t) noexcept
{
	free(block);
}

#endif

/* Allocates and frees in a loop, and keeps the last blocks. */
template <typename Take, typename Give> static void turn(Take take, Give give)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		void *block = take();

		sink = block;
		if (i < ROUNDS - KEPT)
			give(block);
	}
}

static NOINLINE void all_forms()
{
	const std::align_val_t aligned{64};

	turn([] { return operator new(40); }, [](void *b) { operator delete(b); });
	turn([] { return operator new[](41); }, [](void *b) { operator delete[](b); });
	turn([] { return operator new(42, std::nothrow); },
	     [](void *b) { operator delete(b, std::nothrow); });
	turn([] { return operator new[](43, std::nothrow); },
	     [](void *b) { operator delete[](b, std::nothrow); });
	turn([=] { return operator new(44, aligned); },
	     [=](void *b) { operator delete(b, aligned); });
	turn([=] { return operator new[](45, aligned); },
	     [=](void *b) { operator delete[](b, aligned); });
	turn([] { return operator new(0); }, [](void *b) { operator delete(b); });
	turn([] { return operator new(5000); }, [](void *b) { operator delete(b); });
}

/* A stack of its own for each PATH. */
static NOINLINE void descend(unsigned depth, unsigned path)
{
	if (depth == 0)
		sink = new char[16];
	else if (path % 2)
		descend(depth - 1, path / 2);
	else
		descend(depth - 1, path / 2);
	asm volatile("");
}

/* The constructor of a string allocates in the C++ library. */
static NOINLINE void library_allocates(unsigned depth)
{
	char padding[16];

	asm volatile("" : : "r"(padding) : "memory");
	if (depth > 0) {
		library_allocates(depth - 1);
	} else {
		auto *text = new std::string;

		text->append(100, 'x');
		sink = text;
	}
	asm volatile("");
}

static NOINLINE void fail_at(unsigned depth)
{
	if (depth > 0)
		fail_at(depth - 1);
	else
		sink = operator new(too_large);
	asm volatile("");
}

static void throws()
{
	for (unsigned depth = 0; depth < 40; depth++) {
		try {
			fail_at(depth);
		} catch (const std::bad_alloc &) {
		}
		library_allocates(depth / 2);
	}
}

static unsigned handled;

/* The new handler keeps two blocks, and gives up at each third call. */
static void on_failure()
{
	sink = new char[33];
	sink = malloc(34);
	if (++handled % 3 == 0)
		throw std::bad_alloc();
}

static void handler()
{
	std::set_new_handler(on_failure);
	for (unsigned i = 0; i < 10; i++) {
		try {
			fail_at(i % 2);
		} catch (const std::bad_alloc &) {
		}
		delete new int;
	}
	std::set_new_handler(nullptr);
}

/* With an interval of a byte each block is sampled. */
static void switched()
{
	struct leakwrap_counters before, after;

	leakwrap_get_counters(&before);
	for (unsigned i = 0; i < 10; i++) {
		leakwrap_set_sample(1);
		sink = new char[500];
		sink = new char[500];
		leakwrap_set_sample(0);
	}
	leakwrap_get_counters(&after);
	printf("%d\n", (int)(after.live_blocks - before.live_blocks));
}

int main(int count, char **argument)
{
	const char *part = count > 1 ? argument[1] : "";

	setvbuf(stdout, nullptr, _IONBF, 0);
	if (!strcmp(part, "forms")) {
		all_forms();
	} else if (!strcmp(part, "stacks")) {
		const unsigned stacks = (unsigned)atoi(argument[2]);
		const unsigned long before = leakwrap_walks;

		for (unsigned path = 0; path < stacks; path++)
			descend(16, path);
		printf("%lu\n", leakwrap_walks - before);
	} else if (!strcmp(part, "throws")) {
		throws();
	} else if (!strcmp(part, "handler")) {
		handler();
	} else if (!strcmp(part, "switched")) {
		switched();
	} else {
		return 2;
	}
	return 0;
}
