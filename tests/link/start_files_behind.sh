#!/bin/sh
# The compiler's start files may come behind the tracer, as in a link of Free Pascal.
. tests/lib.sh

cat >"$W/program.c" <<'END'
#include <stdlib.h>
#include "tests/noinline.h"
static void *volatile kept;
static NOINLINE void leak(size_t size)
{
	kept = malloc(size);
}
int main(void)
{
	leak(100);
	leak(50);
	return 3;
}
END
# shellcheck disable=SC2046,SC2086 # lists of flags
$CC $CFLAGS_FOR_TESTS -no-pie -nostartfiles -o "$W/program" \
	"$($CC -print-file-name=crt1.o)" "$($CC -print-file-name=crti.o)" "$W/program.c" \
	$(leakwrap_flags LEAKWRAP_LLD_LDFLAGS LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) \
	"$($CC -print-file-name=crtbegin.o)" "$($CC -print-file-name=crtend.o)" \
	"$($CC -print-file-name=crtn.o)" 2>"$W/linker" || fail "$(tail -n 3 "$W/linker")"
LEAKWRAP_OPTIONS=log=$W/log "$W/program"
equal "status" $? 3
equal "leak" "$(site_by "$W/log" 1 leak)" "150 2"
