// bad_alloc.cpp - makes every form of operator new fail, with and without a new_handler, and prints
// the result. Afterwards each form leaves a block of its own.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

static void *volatile kept;
// Half of the addresses of 32 bits may well be free.
static volatile std::size_t too_much =
        sizeof(std::size_t) == 4 ? SIZE_MAX / 16 * 15 : PTRDIFF_MAX - 4096;
static int handled;

static const std::align_val_t line{64};

struct from_handler {
};

static void give_up()
{
	if (++handled == 2)
		std::set_new_handler(nullptr);
}

static void throw_other()
{
	throw from_handler();
}

// A frame between the throwing operator and the handler has an object to destroy.
struct witness {
	const char *name;
	~witness()
	{
		std::printf(" unwound %s,", name);
	}
};

#define FORM(name, expression)                                                \
	extern "C" __attribute__((noinline)) void by_##name(std::size_t size) \
	{                                                                     \
		witness seen{#name};                                          \
		kept = expression;                                            \
		if (!kept)                                                    \
			std::printf(" NULL,");                                \
	}

FORM(plain, operator new(size))
FORM(array, operator new[](size))
FORM(aligned, operator new(size, line))
FORM(aligned_array, operator new[](size, line))
FORM(nothrow, operator new(size, std::nothrow))
FORM(nothrow_array, operator new[](size, std::nothrow))
FORM(nothrow_aligned, operator new(size, line, std::nothrow))
FORM(nothrow_aligned_array, operator new[](size, line, std::nothrow))

static void attempt(const char *name, void (*form)(std::size_t), std::new_handler handler)
{
	std::printf("%s:", name);
	handled = 0;
	std::set_new_handler(handler);
	try {
		form(too_much);
	} catch (const std::bad_alloc &caught) {
		std::printf(" %s,", caught.what());
	} catch (const from_handler &) {
		std::printf(" from the handler,");
	}
	std::set_new_handler(nullptr);
	std::printf(" handled %d\n", handled);
}

int main()
{
	static const struct {
		const char *name;
		void (*form)(std::size_t);
	} forms[] = {
	        {"plain", by_plain},
	        {"array", by_array},
	        {"aligned", by_aligned},
	        {"aligned_array", by_aligned_array},
	        {"nothrow", by_nothrow},
	        {"nothrow_array", by_nothrow_array},
	        {"nothrow_aligned", by_nothrow_aligned},
	        {"nothrow_aligned_array", by_nothrow_aligned_array},
	};

	// Fails more often than a table could keep whatever a failure leaves behind.
	for (int i = 0; i < 100; i++)
		for (const auto &form : forms) {
			attempt(form.name, form.form, nullptr);
			attempt(form.name, form.form, give_up);
			attempt(form.name, form.form, throw_other);
		}
	for (const auto &form : forms) {
		form.form(1000);
		std::printf("\nleaks by_%s 1000 1\n", form.name);
	}
	return 4;
}
