// fail_next_new.cpp - makes operators new fail, with and without a new handler. Returns the number
// of the check that failed.
#include "leakwrap.h"

#include <cstdint>
#include <new>
#include <pthread.h>
#include <string>

static int calls;

static void count_call()
{
	calls++;
}

static void throw_number()
{
	throw 5;
}

static const std::align_val_t line{64};
static void *volatile kept;

template <typename Expression> static bool throws(Expression expression)
{
	leakwrap_fail_next(1);
	try {
		kept = expression();
		return false;
	} catch (const std::bad_alloc &) {
		return true;
	}
}

template <typename Expression> static bool is_null(Expression expression)
{
	leakwrap_fail_next(1);
	kept = expression();
	return kept == nullptr;
}

static void *fail_in_thread(void *)
{
	is_null([] { return operator new(10, std::nothrow); });
	return nullptr;
}

// Another thread's operator fails while this handler runs.
static void fail_meanwhile()
{
	pthread_t thread;

	if (pthread_create(&thread, nullptr, fail_in_thread, nullptr) == 0)
		pthread_join(thread, nullptr);
}

// A handler may install another one, which stays.
static void install_another()
{
	std::set_new_handler(count_call);
}

static void install_and_throw()
{
	std::set_new_handler(count_call);
	throw_number();
}

// A handler that can free memory only once sets none.
static void install_none()
{
	std::set_new_handler(nullptr);
}

static void install_none_and_throw()
{
	std::set_new_handler(nullptr);
	throw_number();
}

int main()
{
	if (!throws([] { return operator new(10); }))
		return 1;
	if (!throws([] { return operator new[](10); }))
		return 2;
	if (!throws([] { return operator new(64, line); }))
		return 3;
	if (!throws([] { return operator new[](64, line); }))
		return 4;
	if (!is_null([] { return operator new(10, std::nothrow); }))
		return 5;
	if (!is_null([] { return operator new[](10, std::nothrow); }))
		return 6;
	if (!is_null([] { return operator new(64, line, std::nothrow); }))
		return 7;
	if (!is_null([] { return operator new[](64, line, std::nothrow); }))
		return 8;
	if (!throws([] { return new std::string(100, 'x'); }))
		return 9;

	// A handler that returns: the operator tries again.
	std::set_new_handler(count_call);
	leakwrap_fail_next(1);
	kept = operator new(10);
	if (!kept || calls != 1)
		return 10;
	operator delete(kept);

	// A handler that throws: its exception leaves the operator.
	std::set_new_handler(throw_number);
	leakwrap_fail_next(1);
	try {
		kept = operator new(10);
		return 11;
	} catch (int number) {
		if (number != 5)
			return 12;
	}

	// The operators that return NULL. One whose handler returns tries again, and the handler
	// stays. It catches what the handler throws.
	leakwrap_fail_next(1);
	kept = operator new(10, std::nothrow);
	if (kept || std::get_new_handler() != throw_number)
		return 13;
	std::set_new_handler(count_call);
	calls = 0;
	leakwrap_fail_next(1);
	kept = operator new(10, std::nothrow);
	if (!kept || calls != 1 || std::get_new_handler() != count_call)
		return 14;
	operator delete(kept);
	leakwrap_fail_next(1);
	kept = operator new[](64, line, std::nothrow);
	if (!kept || calls != 2)
		return 15;
	operator delete[](kept, line);
	std::set_new_handler(fail_meanwhile);
	leakwrap_fail_next(1);
	operator delete(operator new(10, std::nothrow));
	if (std::get_new_handler() != fail_meanwhile)
		return 16;
	std::set_new_handler(install_another);
	leakwrap_fail_next(1);
	operator delete(operator new(10, std::nothrow));
	if (std::get_new_handler() != count_call)
		return 17;
	std::set_new_handler(install_and_throw);
	leakwrap_fail_next(1);
	operator delete(operator new(10, std::nothrow));
	if (std::get_new_handler() != count_call)
		return 18;
	std::set_new_handler(install_none);
	leakwrap_fail_next(1);
	operator delete(operator new(10, std::nothrow));
	if (std::get_new_handler())
		return 19;
	std::set_new_handler(install_none_and_throw);
	leakwrap_fail_next(1);
	operator delete(operator new(10, std::nothrow));
	if (std::get_new_handler())
		return 20;
	return 0;
}
