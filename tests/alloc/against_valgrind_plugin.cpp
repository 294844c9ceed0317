/* against_valgrind_plugin.cpp - a plugin that allocates in its constructor and for its caller. */
#include <map>
#include <string>

static const std::map<int, std::string> *const words = new std::map<int, std::string>{
        {1, "a string that does not fit into the object"}};

extern "C" void *make(int number)
{
	return new std::string(200 + (size_t)number, words->at(1)[0]);
}
