#!/bin/sh
# A traced object that is unloaded leaves the program's handlers behind, and none of its own.
#
# This also holds if there was never memory for the list of modules.
. tests/lib.sh

cat >"$W/object.c" <<'EOF'
#include <stdlib.h>
static void *volatile kept;
void in_the_object(void);
void in_the_object(void) { kept = malloc(99); }
EOF
# Fails the tracer's mmap. On 32 bits it has another number.
cat >"$W/no_pages.c" <<'EOF'
#include <errno.h>
#include <sys/syscall.h>
#ifdef SYS_mmap2
#undef SYS_mmap
#define SYS_mmap SYS_mmap2
#endif
long __real_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_mmap ? -ENOMEM
	                          : __real_leakwrap_call_kernel(number, a, b, c, d, e, f);
}
EOF
build object.so -shared -fPIC "$W/object.c"
build_plain unloaded tests/module/unloaded_tracer.c
build no_pages.so -shared -fPIC "$W/object.c" "$W/no_pages.c" -Wl,--wrap=leakwrap_call_kernel
for crash in 0 1; do
	LEAKWRAP_OPTIONS=crash=$crash timeout 20 "$W/unloaded" "$W/object.so" 2>"$W/log" ||
		fail "crash=$crash: status $?"
	equal "crash=$crash: dumps by signal" "$(grep -c 'reason=signal' "$W/log")" 10
done
timeout 20 "$W/unloaded" "$W/no_pages.so" 2>"$W/log" ||
	fail "without memory: status $?"
equal "dumps by signal, without memory" "$(grep -c 'reason=signal' "$W/log")" 10
[ "$(dump_value "$W/log" 1 untracked_blocks)" -gt 0 ] || fail "there was memory"
