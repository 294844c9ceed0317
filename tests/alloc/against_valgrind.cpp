/* against_valgrind.cpp - uses the shared C++ library, and leaves blocks.  Each part is compiled
 * alone, with -DCASE_<name>. */
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/noinline.h"

/* The loader makes a table for each thread with an entry for each module that has such variables.
 * The tracer has one, so the untraced program gets one, too. */
static thread_local volatile int counted;

static void *volatile kept[8];

static NOINLINE void keep_own()
{
	counted = 1;
	kept[0] = new char[1234];
	delete new int(7);
}

#ifdef CASE_strings
static NOINLINE void work()
{
	std::string text(100, 'a');
	std::ostringstream stream;

	for (int i = 0; i < 50; i++)
		stream << text << i;
	text += stream.str();
	kept[1] = new std::string(text);
	std::cout << text.size() << std::endl;
}
#endif

#ifdef CASE_regex
static NOINLINE void work()
{
	const std::string text = "one two three";

	kept[1] = new std::regex("(one|two)+ [a-z]*");
	std::sregex_iterator word(text.begin(), text.end(), *(std::regex *)kept[1]), end;
	for (; word != end; ++word)
		std::cout << word->str() << "\n";
}
#endif

#ifdef CASE_filesystem
static NOINLINE void work()
{
	kept[1] = new std::filesystem::path("/usr/share/doc");
	for (auto &entry : std::filesystem::directory_iterator("/etc/apt"))
		if (entry.path().filename() == "none")
			std::cout << entry.path();
	std::ifstream file("/etc/hostname");
	std::string line;
	std::getline(file, line);
}
#endif

#ifdef CASE_threads
static NOINLINE void fill(std::vector<std::string> *words)
{
	for (int i = 0; i < 100; i++)
		words->push_back("a word that is longer than the small string " +
		                 std::to_string(i));
}

static NOINLINE void work()
{
	auto *words = new std::vector<std::string>[4];
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back(fill, &words[i]);
	for (auto &thread : threads)
		thread.join();
	kept[1] = words;
}
#endif

#ifdef CASE_exceptions
static NOINLINE void fails(int depth)
{
	std::string text(depth * 20, 'x');

	if (depth == 0)
		throw std::runtime_error("a message that is longer than a small string holds");
	fails(depth - 1);
}

static NOINLINE void work()
{
	for (int i = 0; i < 20; i++)
		try {
			fails(i);
		} catch (const std::exception &) {
			if (i == 10)
				kept[1] = new std::exception_ptr(std::current_exception());
		}
}
#endif

int main()
{
	keep_own();
	work();
	std::cout << "done\n";
	return 0;
}
