#!/bin/sh
# glibc's checking malloc is in use in a traced program, too, where LD_PRELOAD names it: it has no
# default version of malloc.
. tests/lib.sh

library=$($CC -print-file-name=libc_malloc_debug.so.0)
[ -e "$library" ] || skip "glibc has no libc_malloc_debug.so.0"
case $CC in *-linux-*) skip "the library is not this machine's" ;; esac

cat >"$W/program.c" <<'END'
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words)
{
	/* Static: the block is live at the exit. */
	static char *volatile block;

	(void)words;
	block = malloc(20);
	block[count > 1 ? 20 : 19] = 1;
	free(block);
	block = malloc(33);
	return 7;
}
END
build program "$W/program.c"
export LD_PRELOAD="$library" MALLOC_CHECK_=3
LEAKWRAP_OPTIONS=log=$W/log "$W/program" 2>"$W/errors"
equal "status" $? 7
("$W/program" overflow) >"$W/out" 2>&1
equal "status after an overflow" $? 134
unset LD_PRELOAD MALLOC_CHECK_
equal "live" "$(dump_value "$W/log" 1 live_bytes)" 33
equal "loss" "$(dump_lines "$W/log" 1 | sed -n 's/^loss //p')" "$none_lost"
! dump_lines "$W/log" 1 | grep '^bypass' || fail "a bypass"
equal "heap" "$(dump_value "$W/log" 1 heap)" part
