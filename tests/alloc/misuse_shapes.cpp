// misuse_shapes.cpp - releases pointers that are no blocks, in each shape. A shape has four parts:
// what the pointer leads to, its way to the release, the function that releases it, and the size.
// Each shape runs in a child of its own and prints "PID SHAPE STATUS". The shapes with a block of
// the heap are correct.
#include <alloca.h>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/noinline.h"

static volatile int used;

// Stores to the bytes and reads them; otherwise a compiler would leave the array out.
static inline void fill(char *data, int size)
{
	for (int i = 0; i < size; i++)
		static_cast<volatile char *>(data)[i] = static_cast<char>(i);
	used = used + data[size / 2];
}

// What the pointer leads to.
#define STACK(maker)       \
	char room[size];   \
	char *data = room; \
	fill(data, size);
#define ALLOCA(maker)                                   \
	char *data = static_cast<char *>(alloca(size)); \
	fill(data, size);
#define STATIC(maker)                 \
	static char room[size] = {1}; \
	char *data = room;            \
	fill(data, size);
#define ZEROS(maker)            \
	static char room[size]; \
	char *data = room + 16; \
	fill(data, size - 16);
#define LITERAL(maker)                                                           \
	char *data = const_cast<char *>("a string literal that is long enough"); \
	used = used + data[size % 8];
#define INSIDE(maker)                                       \
	char *data = static_cast<char *>(maker(size)) + 16; \
	fill(data, size - 16);
#define HEAP(maker)                                    \
	char *data = static_cast<char *>(maker(size)); \
	fill(data, size);

// The function that releases it, and what this function needs.
#define FREE(data)   std::free(data)
#define DELETE(data) delete data
#define ARRAY(data)  delete[] data
#define MAKER_FREE   std::malloc
#define MAKER_DELETE ::operator new
#define MAKER_ARRAY  ::operator new[]

// Its way to the release. The first two ways end with the release, so compilers take the frame
// down.
#define LAST(release)     release(data);
#define FUNCTION(release) Sinks::function_##release(data);
#define BEFORE(release) \
	release(data);  \
	used = used + 1;
#define STRUCTURE(release)                  \
	Sinks::Holder holder = {{}, data};  \
	Sinks::structure_##release(holder); \
	used = used + 1;
#define REFERENCE(release)          \
	char *volatile *reference;  \
	char *volatile held = data; \
	reference = &held;          \
	release(*reference);        \
	used = used + 1;
#define CONTAINER(release)                                    \
	std::vector<char *> vector(3, data);                  \
	std::list<char *> list(vector.begin(), vector.end()); \
	std::map<int, char *> map;                            \
	map[1] = list.back();                                 \
	release(map[1]);

namespace Sinks
{
struct Holder {
	int before[3];
	char *data;
};

#define SINKS(release)                                                 \
	static NOINLINE void function_##release(char *data)            \
	{                                                              \
		release(data);                                         \
	}                                                              \
	static NOINLINE void structure_##release(const Holder &holder) \
	{                                                              \
		release(holder.data);                                  \
	}

SINKS(FREE)
SINKS(DELETE)
SINKS(ARRAY)
} // namespace Sinks

#define RELEASES(X, source, way) X(source, way, FREE) X(source, way, DELETE) X(source, way, ARRAY)
#define WAYS(X, source)                \
	RELEASES(X, source, LAST)      \
	RELEASES(X, source, FUNCTION)  \
	RELEASES(X, source, BEFORE)    \
	RELEASES(X, source, STRUCTURE) \
	RELEASES(X, source, REFERENCE) \
	RELEASES(X, source, CONTAINER)
#define SHAPES(X)        \
	WAYS(X, STACK)   \
	WAYS(X, ALLOCA)  \
	WAYS(X, STATIC)  \
	WAYS(X, ZEROS)   \
	WAYS(X, LITERAL) \
	WAYS(X, INSIDE)  \
	WAYS(X, HEAP)

#define SHAPE(source, way, release)                                           \
	template <int size> static NOINLINE void source##_##way##_##release() \
	{                                                                     \
		source(MAKER_##release) way(release)                          \
	}

SHAPES(SHAPE)

static const struct {
	const char *name;
	void (*run)();
} shapes[] = {
#define ENTRIES(source, way, release)                                                    \
	{#source " " #way " " #release " 40", source##_##way##_##release<40>},           \
	        {#source " " #way " " #release " 800", source##_##way##_##release<800>}, \
	        {#source " " #way " " #release " 30000", source##_##way##_##release<30000>},
        SHAPES(ENTRIES)};

static void *run_in_thread(void *shape)
{
	static_cast<decltype(&shapes[0])>(shape)->run();
	return nullptr;
}

int main(int argc, char **)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	for (const auto &shape : shapes) {
		const pid_t child = fork();

		if (child == 0) {
			if (argc == 1) {
				shape.run();
			} else {
				pthread_t thread;

				pthread_create(
				        &thread, nullptr, run_in_thread,
				        const_cast<void *>(static_cast<const void *>(&shape)));
				pthread_join(thread, nullptr);
			}
			_exit(0);
		}
		int status;

		waitpid(child, &status, 0);
		std::printf("%d %s %d\n", static_cast<int>(child), shape.name, status);
	}
}
