/* new_handler.c - see new_handler.h. */
#include "wrap/entry/new_handler.h"

#include "wrap/base/common.h"

/* std::get_new_handler() and std::set_new_handler(), if the program has the C++ library. */
extern void (*leakwrap_get_new_handler(void))(void) __asm__("_ZSt15get_new_handlerv")
        __attribute__((weak));
extern void (*leakwrap_set_new_handler(void (*handler)(void)))(void) __asm__(
        "_ZSt15set_new_handlerPFvvE") __attribute__((weak));

/* The program's new handler during a failure, whether it has returned, and the handler that was
 * there then.  All threads share it, as they share the handler. */
static struct {
	void (*program)(void);
	bool has_returned;
	/* stand_for_none was called: there is no handler then, whatever the program's handler has
	 * set. */
	bool was_none_called;
	void (*left)(void);
} handler_of;

/* Stands for no handler while the program's handler runs, so that it is known whether that has set
 * another one, or none.  An operator that fails meanwhile calls it and then finds none. */
static void stand_for_none(void)
{
	handler_of.was_none_called = true;
	leakwrap_set_new_handler(NULL);
}

/* Stands in for the program's handler.  The next attempt of the real operator finds no handler. */
static void call_handler_once(void)
{
	leakwrap_set_new_handler(stand_for_none);
	handler_of.program();
	handler_of.left = leakwrap_set_new_handler(NULL);
	handler_of.has_returned = true;
}

/* Returns the present new handler, or NULL. */
static void (*new_handler(void))(void)
{
	void (*const handler)(void) = leakwrap_get_new_handler ? leakwrap_get_new_handler() : NULL;

	return handler == stand_for_none ? NULL : handler;
}

size_t leakwrap_fail_new(size_t size)
{
	void (*const handler)(void) = new_handler();

	if (!handler)
		return LEAKWRAP_TOO_LARGE;
	handler();
	return size;
}

void (*leakwrap_begin_nothrow_failure(void))(void)
{
	void (*const program)(void) = leakwrap_set_new_handler ? new_handler() : NULL;

	if (!program || program == call_handler_once)
		return NULL;
	handler_of.has_returned = false;
	handler_of.was_none_called = false;
	handler_of.program = program;
	leakwrap_set_new_handler(call_handler_once);
	return program;
}

bool leakwrap_end_nothrow_failure(void (*program)(void))
{
	void (*left)(void);

	if (!program)
		return false;
	/* A handler that throws may have set another handler, or none, too. */
	left = handler_of.has_returned ? handler_of.left : leakwrap_get_new_handler();
	if (left == stand_for_none || left == call_handler_once ||
	    (!left && handler_of.was_none_called))
		left = program;
	/* Another thread may have set one since. */
	if (!new_handler())
		leakwrap_set_new_handler(left);
	return handler_of.has_returned;
}
