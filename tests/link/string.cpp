// string.cpp - uses std::string alone, whose templates call operators new and delete.
#include <cstdio>
#include <string>

int main(int argc, char **)
{
	std::string text = "nothing but std::string, longer than what fits into itself";

	for (int i = 0; i < 10 * argc; i++)
		text += text.substr(0, 20);
	std::puts(text.c_str());
	return static_cast<int>(text.size()) % 100;
}
