#!/bin/sh
# A traced object that is unloaded leaves the program's handler behind, also when there was never memory for the list of
# modules.
. tests/lib.sh

cat >"$W/object.c" <<'EOF'
#include <stdlib.h>
static void *volatile kept;
void in_the_object(void);
void in_the_object(void) { kept = malloc(99); }
EOF
cat >"$W/no_pages.c" <<'EOF'
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>
void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	(void)address, (void)size, (void)protection, (void)flags, (void)fd, (void)offset;
	errno = ENOMEM;
	return MAP_FAILED;
}
EOF
build object.so -shared -fPIC "$W/object.c"
build_plain unloaded tests/rules/unloaded.c
build_plain no_pages.so -shared -fPIC -Wno-missing-prototypes "$W/no_pages.c"
timeout 20 "$W/unloaded" "$W/object.so" 2>"$W/log" || fail "status $?"
equal "dumps by signal" "$(grep -c 'reason=signal' "$W/log")" 10
LD_PRELOAD=$W/no_pages.so timeout 20 "$W/unloaded" "$W/object.so" 2>"$W/log" || fail "without memory: status $?"
equal "dumps by signal, without memory" "$(grep -c 'reason=signal' "$W/log")" 10
