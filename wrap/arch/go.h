/* go.h - the frame in which Go's runtime calls C. */
#ifndef LEAKWRAP_ARCH_GO_H
#define LEAKWRAP_ARCH_GO_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/arch.h"

/* The frame of a call of C.  Offsets are from sp at the call. */
struct leakwrap_go_call {
	bool changes_stack; /* the call came from a goroutine's stack, not from this one */
	/* Where the goroutine's address is.  Its first two words are the bounds of its stack (Go's
	 * runtime/runtime2.go, struct g). */
	int32_t goroutine;
	/* Where sp is, or, if the call changes stacks, how far sp was below the upper end of the
	 * goroutine's stack. */
	int32_t distance;
};

/* Each header has leakwrap_read_go_call.  It reads the code at PC, behind a call, and fills *CALL.
 * It returns false, and may have changed *CALL, if the call is not that of C in Go's runtime. */
#if defined(__x86_64__) && !defined(__ILP32__)
#include "wrap/arch/go_x86_64.h"
#define LEAKWRAP_HAVE_GO_STACKS 1
#elif defined(__aarch64__) && !defined(__ILP32__)
#include "wrap/arch/go_aarch64.h"
#define LEAKWRAP_HAVE_GO_STACKS 1
#else
#define LEAKWRAP_HAVE_GO_STACKS 0
#endif

#endif
