#!/bin/sh
# Code without unwind tables that calls through a table of functions, at an address that stands in the call itself.
. tests/lib.sh

cat >"$W/vendor.c" <<'END'
#include <stdlib.h>
int dispatch(int which);
static void *volatile kept;
static __attribute__((noinline)) int small(int which) { kept = malloc(100); return which + (kept != NULL); }
static __attribute__((noinline)) int large(int which) { kept = malloc(200); return which - (kept != NULL); }
static int (*const functions[])(int) = {small, large};
int dispatch(int which) { return functions[which](which) + 1; }
END
cat >"$W/main.c" <<'END'
int dispatch(int which);
int main(void) { return dispatch(0) + dispatch(1) > 100; }
END
build_plain vendor.o -c -fno-pie -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables "$W/vendor.c"
objdump -d "$W/vendor.o" | grep -q 'call.*\*0x0(,%r' || skip "the compiler calls in another way"
for static in '' -static; do
	build "dispatch$static" -no-pie $static "$W/main.c" "$W/vendor.o"
	"$W/dispatch$static" 2>"$W/log" || fail "dispatch$static: status $?"
	dump_sites "$W/log" 1 >"$W/sites"
	grep -q '^100 1 complete small;dispatch;main;' "$W/sites" || fail "small$static: $(cat "$W/sites")"
	grep -q '^200 1 complete large;dispatch;main;' "$W/sites" || fail "large$static: $(cat "$W/sites")"
done
