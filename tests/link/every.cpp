// every.cpp - calls every wrapped function of the C++ runtime once. Cases have the mangled names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <new>

#include "every.h"

using std::align_val_t;
using std::nothrow;

static const align_val_t line{64};

// -- new, each freed by its own delete
// --------------------------------------------------------------

CASE(_Znwm)
{
	keep(operator new(100), 100, [](void *block) { operator delete(block); });
	keep(operator new(0), 0, [](void *block) { operator delete(block); });
}

CASE(_ZnwmRKSt9nothrow_t)
{
	keep(operator new(101, nothrow), 101, [](void *block) { operator delete(block, nothrow); });
}

CASE(_ZnwmSt11align_val_t)
{
	keep(operator new(102, line), 102, [](void *block) { operator delete(block, line); });
}

CASE(_ZnwmSt11align_val_tRKSt9nothrow_t)
{
	keep(operator new(103, line, nothrow), 103,
	     [](void *block) { operator delete(block, line, nothrow); });
}

CASE(_Znam)
{
	keep(operator new[](104), 104, [](void *block) { operator delete[](block); });
}

CASE(_ZnamRKSt9nothrow_t)
{
	keep(operator new[](105, nothrow), 105,
	     [](void *block) { operator delete[](block, nothrow); });
}

CASE(_ZnamSt11align_val_t)
{
	keep(operator new[](106, line), 106, [](void *block) { operator delete[](block, line); });
}

CASE(_ZnamSt11align_val_tRKSt9nothrow_t)
{
	keep(operator new[](107, line, nothrow), 107,
	     [](void *block) { operator delete[](block, line, nothrow); });
}

// -- delete; the forms without a size were called above
// ---------------------------------------------

CASE(_ZdlPv)
{
	operator delete(operator new(1));
	operator delete(nullptr);
}

CASE(_ZdlPvRKSt9nothrow_t)
{
	operator delete(operator new(1), nothrow);
}

CASE(_ZdlPvSt11align_val_t)
{
	operator delete(operator new(1, line), line);
}

CASE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
{
	operator delete(operator new(1, line), line, nothrow);
}

CASE(_ZdlPvm)
{
	operator delete(operator new(1), 1);
}

CASE(_ZdlPvmSt11align_val_t)
{
	operator delete(operator new(1, line), 1, line);
}

CASE(_ZdaPv)
{
	operator delete[](operator new[](1));
}

CASE(_ZdaPvRKSt9nothrow_t)
{
	operator delete[](operator new[](1), nothrow);
}

CASE(_ZdaPvSt11align_val_t)
{
	operator delete[](operator new[](1, line), line);
}

CASE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
{
	operator delete[](operator new[](1, line), line, nothrow);
}

CASE(_ZdaPvm)
{
	operator delete[](operator new[](1), 1);
}

CASE(_ZdaPvmSt11align_val_t)
{
	operator delete[](operator new[](1, line), 1, line);
}

// -- the demangler
// ----------------------------------------------------------------------------------

CASE(__cxa_demangle)
{
	int status;
	std::size_t length = 4;
	char *small = static_cast<char *>(std::malloc(length));
	char *name = abi::__cxa_demangle("_ZN5outer5inner8functionEi", nullptr, nullptr, &status);
	char *grown = abi::__cxa_demangle("_ZN5outer5inner8functionEi", small, &length, &status);

	say("%s", name);
	say("%s %zu", grown, length);
	say("no name: %s",
	    abi::__cxa_demangle("not mangled", nullptr, nullptr, &status) ? "a name" : "NULL");
	keep(name, std::strlen(name) + 1, std::free);
	keep(grown, length, std::free);
	at_least();
}

#define ENTRY(name) #name, called_##name

static const case_entry cases[] = {
        {ENTRY(_Znwm)},
        {ENTRY(_ZnwmRKSt9nothrow_t)},
        {ENTRY(_ZnwmSt11align_val_t)},
        {ENTRY(_ZnwmSt11align_val_tRKSt9nothrow_t)},
        {ENTRY(_Znam)},
        {ENTRY(_ZnamRKSt9nothrow_t)},
        {ENTRY(_ZnamSt11align_val_t)},
        {ENTRY(_ZnamSt11align_val_tRKSt9nothrow_t)},
        {ENTRY(_ZdlPv)},
        {ENTRY(_ZdlPvRKSt9nothrow_t)},
        {ENTRY(_ZdlPvSt11align_val_t)},
        {ENTRY(_ZdlPvSt11align_val_tRKSt9nothrow_t)},
        {ENTRY(_ZdlPvm)},
        {ENTRY(_ZdlPvmSt11align_val_t)},
        {ENTRY(_ZdaPv)},
        {ENTRY(_ZdaPvRKSt9nothrow_t)},
        {ENTRY(_ZdaPvSt11align_val_t)},
        {ENTRY(_ZdaPvSt11align_val_tRKSt9nothrow_t)},
        {ENTRY(_ZdaPvm)},
        {ENTRY(_ZdaPvmSt11align_val_t)},
        {ENTRY(__cxa_demangle)},
        {nullptr, nullptr},
};

int main(int argc, char **argv)
{
	return run_cases(cases, argc > 1 ? argv[1] : "leak");
}
