// coroutines.cpp - holds coroutines by the addresses of their promises.  One coroutine is lost, and
// other blocks only look like coroutines.
#include <coroutine>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "tests/clear_stack.h"

enum { KEPT = 20, OTHERS = 6 };

struct Task {
	struct promise_type {
		Task get_return_object()
		{
			return {this};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	promise_type *promise;
};

struct Frame {
	void (*resume)(), (*destroy)();
	long promise[4];
};

static Task::promise_type *volatile kept[KEPT];
static void *volatile others[OTHERS];
static long number;

static Task run(int times)
{
	void *const held = malloc(100);

	for (int i = 0; i < times; i++)
		co_await std::suspend_always{};
	free(held);
}

static Frame *make_frame(void (*resume)(), void (*destroy)())
{
	Frame *const frame = static_cast<Frame *>(calloc(1, sizeof(Frame)));

	frame->resume = resume;
	frame->destroy = destroy;
	return frame;
}

// Returns whether a coroutine could have both functions.  In a static program it could.
static bool is_near(void (*resume)(), void (*destroy)())
{
	return reinterpret_cast<uintptr_t>(destroy) - reinterpret_cast<uintptr_t>(resume) +
	               (1 << 20) <=
	       2 << 20;
}

static void nothing()
{
}

static NOINLINE void make_all()
{
	void (*const code)() = make_all, (*const far)() = std::abort;
	void (*const data)() = reinterpret_cast<void (*)()>(&number);

	for (int i = 0; i < KEPT; i++) {
		kept[i] = run(i + 1).promise;
		std::coroutine_handle<Task::promise_type>::from_promise(*kept[i]).resume();
	}
	others[0] = make_frame(code, data)->promise;
	others[1] = make_frame(data, code)->promise;
	others[2] = make_frame(code, code)->promise + 1;
	others[3] = make_frame(code, code)->promise;
	others[4] = make_frame(code, is_near(code, far) ? code : far)->promise;
	others[5] = make_frame(code, nothing)->promise;
	*static_cast<void (**)()>(others[5]) = code;
	others[0] = run(1).promise == nullptr ? nullptr : others[0];
}

int main()
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
