/* arch.h - selects the architecture.
 *
 * What the runtime must know of an architecture stands in its header.  Other files ask for the
 * architecture only where that is a matter of their own: wrap/port (structures of the kernel),
 * base/common.h, base/thread.h, site/stack_hash.h and entry/string.c (what compilers make of a line
 * of C), and wrap/bare (faults and atomic operations of ARM).
 *
 * Each architecture is one small header that defines:
 *
 *   LEAKWRAP_CALLER        The struct leakwrap_caller of the function that contains this macro.  In
 *                          an always-inline function: of the function that it is inlined into.
 *   LEAKWRAP_SP_NAME       The compiler's name of the stack pointer.  Undefined if unknown.
 *   LEAKWRAP_HAVE_FP_WALK  1 if frames have one layout that a walk by frame pointers can follow;
 *   LEAKWRAP_FP_*          then that layout, see each header.  Where pointers have 64 bits,
 *                          LEAKWRAP_FP_PREVIOUS is needed in any case.
 *   LEAKWRAP_CALL_PUSHES   1 if a call pushes the return address, 0 if it goes to a register.
 *   LEAKWRAP_DWARF_SP, _FP The numbers of the registers in unwind tables, if there are such tables.
 *   LEAKWRAP_SIGRETURN_TRAMPOLINES  The code to which signal handlers return.
 *   LEAKWRAP_CONTEXT_*     The registers in a ucontext_t, for the crash trace and the search for
 *                          lost memory.
 *   LEAKWRAP_UNTAG         Removes the tag from an address.  Undefined: addresses have no tags.
 *   LEAKWRAP_ADDRESS_BITS  The bits of a program's addresses, if they are fewer than a word has.
 *                          Programs keep other data in the bits above.
 *   LEAKWRAP_ELF_MACHINE   The architecture's number in ELF headers (<elf.h>, EM_*).
 *   LEAKWRAP_ELF_ADDRESS   The number of the relocation that stores a symbol's address in a
 *                          variable (<elf.h>, R_*).
 *   LEAKWRAP_PC_SHIFT      Instructions are aligned to 1 << LEAKWRAP_PC_SHIFT bytes.
 *   LEAKWRAP_CODE_STEP     The alignment in one kind of code (struct leakwrap_code), in bytes.
 *   LEAKWRAP_CALL_ON_STACK The instructions of leakwrap_call_on_stack (call_on_stack.h), with
 *                          unwind directives.  It counts as a signal frame: gdb distrusts any
 *                          other frame that lies below its callee's.  Undefined: the runtime
 *                          never changes stacks.
 *   LEAKWRAP_CODE_IS_WIDE  True if a half word begins an instruction of two half words, on
 *                          architectures that also have instructions of one half word.
 *
 * The defaults below, each with its meaning, hold for an architecture that does not define the
 * macro.  x86_64.h is the example of a header with most of them.
 */
#ifndef LEAKWRAP_ARCH_H
#define LEAKWRAP_ARCH_H

#include <stdint.h>

/* The size of a machine word in bytes. */
#define LEAKWRAP_WORD ((int32_t)sizeof(uintptr_t))

/* i386: a function that returns may take arguments off the stack. */
#define LEAKWRAP_RETURN_POPS (LEAKWRAP_CALL_PUSHES && LEAKWRAP_WORD == 4)

#if defined(__x86_64__) && !defined(__ILP32__)
#include "wrap/arch/x86_64.h"
#elif defined(__i386__)
#include "wrap/arch/i386.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "wrap/arch/aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "wrap/arch/riscv64.h"
#elif defined(__arm__)
#include "wrap/arch/arm.h"
#else
#include "wrap/arch/unknown.h"
#endif

/* The bytes below the stack pointer that a function may use.  What lies below them is of the
 * past. */
#ifndef LEAKWRAP_RED_ZONE
#define LEAKWRAP_RED_ZONE 0
#endif

/* The words before the elements of an array by new[] that have no alignment of their own: 1, the
 * number of elements; or 2, with the size of an element before it. */
#ifndef LEAKWRAP_COOKIE_WORDS
#define LEAKWRAP_COOKIE_WORDS 1
#endif

/* 1 if each processor of this kind has SSE2. */
#ifndef LEAKWRAP_ALWAYS_HAS_SSE2
#define LEAKWRAP_ALWAYS_HAS_SSE2 0
#endif

/* 1 if the processor keeps loads in order by itself. */
#ifndef LEAKWRAP_LOADS_ARE_ORDERED
#define LEAKWRAP_LOADS_ARE_ORDERED 0
#endif

/* 1 if the linker may shorten a function, so that its size in the program is not that in the
 * archive. */
#ifndef LEAKWRAP_LINKER_RELAXES
#define LEAKWRAP_LINKER_RELAXES 0
#endif

/* Returns the address of the function whose symbol has VALUE. */
#ifndef LEAKWRAP_SYMBOL_ADDRESS
#define LEAKWRAP_SYMBOL_ADDRESS(value) (value)
#endif

/* EM_NONE */
#ifndef LEAKWRAP_ELF_MACHINE
#define LEAKWRAP_ELF_MACHINE 0
#endif

/* The number of the relocation that does nothing, on all architectures. */
#ifndef LEAKWRAP_ELF_ADDRESS
#define LEAKWRAP_ELF_ADDRESS 0
#endif

/* Removes the signature from a return address.  Most architectures do not sign. */
#ifndef LEAKWRAP_STRIP
#define LEAKWRAP_STRIP(address) (address)
#endif

/* Removes the signature from a word that is hashed and not followed. */
#ifndef LEAKWRAP_STRIP_FOR_HASH
#define LEAKWRAP_STRIP_FOR_HASH(address) LEAKWRAP_STRIP(address)
#endif

/* Sets LOW and HIGH, two variables of 32 bits, to the halves of the product of A and B, two words
 * of 32 bits. */
#ifndef LEAKWRAP_PRODUCT
#define LEAKWRAP_PRODUCT(low, high, a, b)                     \
	do {                                                  \
		const uint64_t product = (uint64_t)(a) * (b); \
		(low) = (uint32_t)product;                    \
		(high) = (uint32_t)(product >> 32);           \
	} while (0)
#endif

/* Adds the product of A and B to the 64 bits in LOW and HIGH, likewise. */
#ifndef LEAKWRAP_ADD_PRODUCT
#define LEAKWRAP_ADD_PRODUCT(low, high, a, b)                                                  \
	do {                                                                                   \
		const uint64_t added = ((uint64_t)(high) << 32 | (low)) + (uint64_t)(a) * (b); \
		(low) = (uint32_t)added;                                                       \
		(high) = (uint32_t)(added >> 32);                                              \
	} while (0)
#endif

/* Orders two reads: what is read through POINTER from now on is not older than WORD.  WORD was read
 * in the order LEAKWRAP_ORDER. */
#if defined LEAKWRAP_ORDER_BY && !defined __SANITIZE_THREAD__
#define LEAKWRAP_ORDER memory_order_relaxed
#else
#undef LEAKWRAP_ORDER_BY
#define LEAKWRAP_ORDER_BY(pointer, word) ((void)0)
#define LEAKWRAP_ORDER                   memory_order_acquire
#endif

/* 1 if the address of an operand may be the sum of two registers and a number. */
#ifndef LEAKWRAP_HAVE_INDEXED_OPERANDS
#define LEAKWRAP_HAVE_INDEXED_OPERANDS 0
#endif

/* 1 if one instruction jumps to the address that a variable holds, also in a PIE. */
#ifndef LEAKWRAP_HAVE_MEMORY_JUMP
#define LEAKWRAP_HAVE_MEMORY_JUMP 0
#endif

/* Stands between two uses of an element of an array.  INDEX is its index.  Where an operand can be
 * the element, the compiler may else compute the element's address for the two. */
#if LEAKWRAP_HAVE_INDEXED_OPERANDS
#define LEAKWRAP_INDEX_AGAIN(index) LEAKWRAP_HIDE_VALUE(index)
#else
#define LEAKWRAP_INDEX_AGAIN(index) ((void)0)
#endif

/* Computes POINTER, a sum, once.  Where no operand can be a sum, the compiler may else compute it
 * for each member that is read through POINTER. */
#if LEAKWRAP_HAVE_INDEXED_OPERANDS
#define LEAKWRAP_KEEP_SUM(pointer) ((void)0)
#else
#define LEAKWRAP_KEEP_SUM(pointer) LEAKWRAP_HIDE_VALUE(pointer)
#endif

/* Reads ELEMENT, of 16 bits, into NUMBER, and then adds COUNT to AT, a pointer to ELEMENT or an
 * index of it. */
#ifndef LEAKWRAP_READ_AND_STEP
#define LEAKWRAP_READ_AND_STEP(number, element, at, count) ((number) = (element), (at) += (count))
#endif

/* 1 for ARM, which has two frame pointers and its own unwind tables (EHABI). */
#ifndef LEAKWRAP_HAVE_ARM_FRAMES
#define LEAKWRAP_HAVE_ARM_FRAMES 0
#endif

/* The caller of a function, as its registers describe it after the return. */
struct leakwrap_caller {
	uintptr_t pc; /* the return address */
	uintptr_t sp; /* the stack pointer */
	uintptr_t fp; /* the frame pointer; 0 where the architecture is unknown */
#if LEAKWRAP_HAVE_ARM_FRAMES
	uintptr_t r7; /* the frame pointer of Thumb code; 0 if it is unknown */
#endif
};

/* Yields LEAKWRAP_CALLER in a function with "..." behind NAMED parameters, each in a register.
 * LIST: what va_start has set; a va_list that other functions have read by value is still that.
 * Some compilers know the stack pointer at the entry of such a function only by the list: the
 * registers of its arguments are stored there in a row, up to LEAKWRAP_LIST_REGISTERS of them. */
#ifdef LEAKWRAP_LIST_REGISTERS
#define LEAKWRAP_CALLER_OF_LIST(list, named)           \
	leakwrap_caller_at(LEAKWRAP_CALLER,            \
	                   LEAKWRAP_LIST_START(list) + \
	                           sizeof(uintptr_t) * (LEAKWRAP_LIST_REGISTERS - (named)))
static inline struct leakwrap_caller leakwrap_caller_at(struct leakwrap_caller caller, uintptr_t sp)
{
	caller.sp = sp;
	return caller;
}
#else
#define LEAKWRAP_CALLER_OF_LIST(list, named) LEAKWRAP_CALLER
#endif

/* Before a static function: it takes its arguments as other functions of its type do. */
#ifndef LEAKWRAP_USUAL_CONVENTION
#define LEAKWRAP_USUAL_CONVENTION
#endif

/* The thread pointer, or 0 if it is unknown. */
#ifndef LEAKWRAP_THREAD_POINTER
#define LEAKWRAP_THREAD_POINTER 0
#endif

/* 1 if the C library describes a thread below the thread pointer, 0 if from there upward.  (ELF
 * Handling For Thread-Local Storage, section 3: variant 1 and variant 2.) */
#ifndef LEAKWRAP_THREAD_POINTER_IS_END
#define LEAKWRAP_THREAD_POINTER_IS_END 1
#endif

/* 1 if a walk can use rules from unwind tables besides frame pointers. */
#if defined(LEAKWRAP_DWARF_SP) || LEAKWRAP_HAVE_ARM_FRAMES
#define LEAKWRAP_HAVE_RULES 1
#else
#define LEAKWRAP_HAVE_RULES 0
#endif

/* Returns true if PC stands in the place of a return address in the first function of a stack. */
#ifndef LEAKWRAP_IS_NO_CALLER
#define LEAKWRAP_IS_NO_CALLER(pc) ((pc) == 0)
#endif

/* Some C libraries have no ucontext_t that describes the registers. */
#ifdef LEAKWRAP_NO_ucontext
#undef LEAKWRAP_CONTEXT_PC
#undef LEAKWRAP_CALL_REGISTERS
#undef LEAKWRAP_CONTEXT_REGISTERS
#endif

/* 1 if the caller's stack pointer can be computed from the frame pointer. */
#ifndef LEAKWRAP_FP_GIVES_SP
#define LEAKWRAP_FP_GIVES_SP 1
#endif

/* 1 if a call leaves the return address in a register, the link register. */
#ifndef LEAKWRAP_HAVE_LR
#define LEAKWRAP_HAVE_LR 0
#endif

#ifndef LEAKWRAP_CODE_STEP
#define LEAKWRAP_CODE_STEP(code) ((void)(code), 1u << LEAKWRAP_PC_SHIFT)
#endif

#ifndef LEAKWRAP_CODE_IS_WIDE
#define LEAKWRAP_CODE_IS_WIDE(half) ((void)(half), 0)
#endif

/* Directives that stand before the label of leakwrap_call_on_stack. */
#ifndef LEAKWRAP_CALL_ON_STACK_PREFIX
#define LEAKWRAP_CALL_ON_STACK_PREFIX ""
#endif

/* 1 if there is a decoder of the architecture's instructions (decode.h). */
#ifndef LEAKWRAP_HAVE_CODE
#define LEAKWRAP_HAVE_CODE 0
#endif

#endif
