// cxx.cpp - allocates by operator new and by containers, and handles failures by exceptions. With
// "leak" a constructor that throws leaves a block behind; with "throw" nobody catches.
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

static bool leaks, throws;

struct part {
	std::string name;
	explicit part(const char *text) : name(text)
	{
	}
};

// Owns two arrays. If there is no second one, the destructor does not run.
class pair_of_arrays
{
	int *first, *second;

      public:
	pair_of_arrays() : first(new int[50])
	{
		try {
			second = new int[60];
		} catch (...) {
			if (!leaks)
				delete[] first;
			throw;
		}
	}
	pair_of_arrays(const pair_of_arrays &) = delete;
	pair_of_arrays &operator=(const pair_of_arrays &) = delete;
	~pair_of_arrays()
	{
		delete[] first;
		delete[] second;
	}
};

static std::size_t work()
{
	std::map<std::string, std::vector<std::unique_ptr<part>>> parts;
	pair_of_arrays arrays;

	for (int i = 0; i < 20; i++)
		parts[std::string(40, static_cast<char>('a' + i % 3))].push_back(
		        std::make_unique<part>("a name that is longer than a short string"));
	return parts.size();
}

int main(int argc, char **argv)
{
	leaks = argc > 1 && std::strstr(argv[1], "leak");
	throws = argc > 1 && std::strstr(argv[1], "throw");
	if (throws)
		return work() == 3 ? 0 : 1;
	try {
		return work() == 3 ? 0 : 1;
	} catch (const std::bad_alloc &) {
		return 2;
	}
}
