#!/bin/sh
# A traced object that is unloaded leaves the program's handler behind.
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
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#ifdef SYS_mmap2
#undef SYS_mmap
#define SYS_mmap SYS_mmap2
#endif
long syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_mmap) {
		errno = ENOMEM;
		return -1;
	}
	long (*next)(long, long, long, long, long, long, long) =
		(long (*)(long, long, long, long, long, long, long))dlsym(RTLD_NEXT, "syscall");
	return next(number, a, b, c, d, e, f);
}
EOF
build_by_library object.so -shared -fPIC "$W/object.c"
build_plain unloaded tests/module/unloaded_tracer.c
build_plain no_pages.so -shared -fPIC -Wno-missing-prototypes "$W/no_pages.c"
timeout 20 "$W/unloaded" "$W/object.so" 2>"$W/log" || fail "status $?"
equal "dumps by signal" "$(grep -c 'reason=signal' "$W/log")" 10
LD_PRELOAD=$W/no_pages.so timeout 20 "$W/unloaded" "$W/object.so" 2>"$W/log" ||
	fail "without memory: status $?"
equal "dumps by signal, without memory" "$(grep -c 'reason=signal' "$W/log")" 10
[ "$(dump_value "$W/log" 1 untracked_blocks)" -gt 0 ] || fail "there was memory"
