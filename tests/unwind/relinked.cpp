// relinked.cpp LIBRARY THREADS - keeps blocks that C++ containers, streams and exceptions allocate
// in THREADS threads, or in main if THREADS is 0. Then it dumps.
#include "leakwrap.h"

#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

// Allocates before main.
std::vector<int> made_by_constructor(1000, 1);

struct Node {
	virtual ~Node() = default;
	std::map<std::string, std::vector<std::string>> words;
};

void throws(int level, Node &node)
{
	if (level == 0)
		throw std::runtime_error(std::string(100, 'x') + node.words.begin()->first);
	throws(level - 1, node);
}

void keep()
{
	Node *node = new Node;
	std::vector<std::function<std::string(int)>> functions;

	for (int i = 0; i < 50; i++) {
		std::ostringstream text;

		text << "a word that does not fit inside the string object " << i;
		node->words[text.str()].push_back(text.str());
		functions.push_back(
		        [text = text.str()](int n) { return text + std::to_string(n); });
	}
	for (const auto &function : functions)
		node->words["made by functions"].push_back(function(1));
	try {
		throws(5, *node);
	} catch (const std::exception &error) { // the walk goes on behind a landing pad
		node->words[error.what()].push_back("an exception that was caught, and its text");
	}
	std::regex *pattern = new std::regex("(a|b)*c[[:digit:]]+");
	if (!std::regex_match("abc12", *pattern))
		std::abort();
	new std::shared_ptr<Node>(std::make_shared<Node>(*node));
}

} // namespace

int main(int argc, char **argv)
{
	int count = argc == 3 ? std::atoi(argv[2]) : 0;
	std::vector<std::thread> threads;

	if (count == 0)
		keep();
	for (int i = 0; i < count; i++)
		threads.emplace_back(keep);
	for (auto &thread : threads)
		thread.join();
	return leakwrap_dump(-1) == 0 ? 0 : 1;
}
