/* linux_call.c - see linux_call.h.  On the processors that are named here, no call goes through the
 * C library's syscall(2): a program may have a function of that name, which does something else. */
#include "wrap/port/linux_call.h"

/* The registers are those of syscall(2), section "Architecture calling conventions". */

#if defined __x86_64__ && defined __LP64__

long leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long d_in __asm__("r10") = d;
	register long e_in __asm__("r8") = e;
	register long f_in __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d_in), "r"(e_in), "r"(f_in)
	                 : "rcx", "r11", "memory");
	return result;
}

#elif defined __i386__ && (__GNUC__ >= 5 || defined __clang__)

/* The last argument is in a register that the compiler may use as frame pointer.  Before version 5
 * gcc keeps %ebx for itself in position-independent code. */
long leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	const long others[2] = {number, f};
	long result;

	__asm__ volatile("pushl %%ebp\n\t"
	                 "movl 4(%%eax), %%ebp\n\t"
	                 "movl (%%eax), %%eax\n\t"
	                 "int $0x80\n\t"
	                 "popl %%ebp"
	                 : "=a"(result)
	                 : "a"(others), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
	                 : "memory");
	return result;
}

#elif (defined __aarch64__ || defined __riscv) && defined __LP64__

#ifdef __aarch64__
#define CALL        "svc 0"
#define NUMBER      "x8"
#define ARGUMENT(i) "x" #i
#else
#define CALL        "ecall"
#define NUMBER      "a7"
#define ARGUMENT(i) "a" #i
#endif

long leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long number_in __asm__(NUMBER) = number;
	register long result __asm__(ARGUMENT(0)) = a;
	register long b_in __asm__(ARGUMENT(1)) = b;
	register long c_in __asm__(ARGUMENT(2)) = c;
	register long d_in __asm__(ARGUMENT(3)) = d;
	register long e_in __asm__(ARGUMENT(4)) = e;
	register long f_in __asm__(ARGUMENT(5)) = f;

	__asm__ volatile(CALL
	                 : "+r"(result)
	                 : "r"(number_in), "r"(b_in), "r"(c_in), "r"(d_in), "r"(e_in), "r"(f_in)
	                 : "memory");
	return result;
}

#elif defined __arm__ && defined __ARM_EABI__

/* The number is in a register that is the frame pointer of Thumb code. */
long leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long result __asm__("r0") = a;
	register long b_in __asm__("r1") = b;
	register long c_in __asm__("r2") = c;
	register long d_in __asm__("r3") = d;
	register long e_in __asm__("r4") = e;
	register long f_in __asm__("r5") = f;
	long kept;

	__asm__ volatile("mov %[kept], r7\n\t"
	                 "mov r7, %[number]\n\t"
	                 "svc 0\n\t"
	                 "mov r7, %[kept]"
	                 : "+r"(result), [kept] "=&r"(kept)
	                 : [number] "r"(number), "r"(b_in), "r"(c_in), "r"(d_in), "r"(e_in),
	                   "r"(f_in)
	                 : "memory");
	return result;
}

#else

#include <errno.h>

/* syscall(2).  Declared here, because dietlibc declares it with the result int: an address would
 * lose its upper half. */
extern long leakwrap_library_syscall(long number, ...) __asm__("syscall");

long leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	const int saved = errno;
	const long result = leakwrap_library_syscall(number, a, b, c, d, e, f);
	const int error = errno;

	errno = saved;
	return result == -1 ? -error : result;
}

#endif
