#!/bin/sh
# A stack is complete through code without unwind tables whose call instruction holds the address of
# a function table.
. tests/lib.sh

cat >"$W/vendor.c" <<'END'
#include <stdlib.h>
int dispatch(int which);
static void *volatile kept;
#define NOINLINE static __attribute__((noinline))
NOINLINE int small(int which) { kept = malloc(100); return which + (kept != NULL); }
NOINLINE int large(int which) { kept = malloc(200); return which - (kept != NULL); }
static int (*const functions[])(int) = {small, large};
int dispatch(int which) { return functions[which](which) + 1; }
END
cat >"$W/main.c" <<'END'
int dispatch(int which);
int main(void) { return dispatch(0) + dispatch(1) > 100; }
END
build_plain vendor.o -c -fno-pie -fomit-frame-pointer -fno-asynchronous-unwind-tables \
	-fno-unwind-tables "$W/vendor.c"
objdump -d "$W/vendor.o" | grep -q 'call.*\*0x0(,%r' || skip "the compiler calls in another way"
for static in '' -static; do
	build "dispatch$static" -no-pie $static "$W/main.c" "$W/vendor.o"
	"$W/dispatch$static" 2>"$W/log" || fail "dispatch$static: status $?"
	dump_sites "$W/log" 1 >"$W/sites"
	for site in '100 1 complete small' '200 1 complete large'; do
		grep -q "^$site;dispatch;main;" "$W/sites" || fail "$site$static: $(cat "$W/sites")"
	done
done
