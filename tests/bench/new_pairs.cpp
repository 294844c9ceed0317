/* new_pairs.cpp - pairs of new and delete, and of new[] and delete[], below eight frames.
 *
 *   new_pairs ROUNDS     two pairs a round
 *
 * For callgrind: what a pair takes is the difference of two counts, divided by the pairs between.
 */
#include <cstdlib>

static void *volatile sink;

__attribute__((noinline)) static void allocate_at(int depth)
{
	if (depth > 0) {
		allocate_at(depth - 1);
	} else {
		char *array = new char[40];
		int *number;

		sink = array;
		delete[] array;
		number = new int(3);
		sink = number;
		delete number;
	}
	asm volatile("");
}

int main(int count, char **argument)
{
	const int rounds = count > 1 ? atoi(argument[1]) : 0;

	for (int i = 0; i < rounds; i++)
		allocate_at(8);
	return 0;
}
