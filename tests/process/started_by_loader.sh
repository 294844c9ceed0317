#!/bin/sh
# A program that is started by way of its loader (ld.so PROGRAM) is named in its dumps, and not the loader; its functions, too.  It lives
# as long as ever: a signal that comes after its exit dump, from a library's destructor, does not end it.
. tests/lib.sh

cat >"$W/by_loader.c" <<'END'
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) static void holds(void) { kept = malloc(100); }
void late(void);
int main(void) { late(); holds(); return 0; }
END
cat >"$W/late.c" <<'END'
#include <signal.h>
void late(void);
void late(void) {}
__attribute__((destructor)) static void ask(void) { raise(SIGUSR1); }
END

# named LOG
named() {
	program=$(dump_value "$1" 1 program)
	case $program in /*) ;; *) fail "the program is called $program" ;; esac
	equal "the program" "$(readlink -f "$program")" "$(readlink -f "$W/by_loader")"
	equal "module 1" "$(dump_lines "$1" 1 | sed -n 's/^module 1 .* path=//p')" "$program"
	equal "by holds" "$(site_by "$1" 1 holds)" "100 1"
}

# tried: runs it in all ways.
tried() {
	loader=$(readelf -l "$W/by_loader" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	[ -x "$loader" ] || fail "no loader"
	"$loader" "$W/by_loader" 2>"$W/log" || fail "status $?"
	named "$W/log"
	(cd "$W" && "$loader" ./by_loader 2>relative.log) || fail "status $?"
	named "$W/relative.log"
	"$W/by_loader" 2>"$W/plain.log" || fail "status $?"
	named "$W/plain.log"
}

build_plain late.so -shared -fPIC "$W/late.c"
build by_loader "$W/by_loader.c" "$W/late.so"
tried

command -v musl-gcc >"$W/which" || exit 0
# shellcheck source=tests/targets/target.sh
. tests/targets/target.sh
runtime x86_64-linux-musl CC=musl-gcc
CC=musl-gcc
build_plain late.so -shared -fPIC "$W/late.c"
# shellcheck disable=SC2046,SC2086 # lists of flags
musl-gcc $CFLAGS_FOR_TESTS -o "$W/by_loader" "$W/by_loader.c" "$W/late.so" \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | sed "s|$O/libleakwrap.a|$lib|g") -pthread || fail "cannot link with musl"
tried
