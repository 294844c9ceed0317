#!/bin/sh
# The dumps of a program that was started by its loader (ld.so PROGRAM) name it and its functions.
#
# They do not name the loader. A signal that comes after the exit dump, from a library's destructor,
# does not end the program.
# timeout: 400
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

# named LOG: the dump in LOG names the program and its function.
named() {
	program=$(dump_value "$1" 1 program)
	case $program in /*) ;; *) fail "the program is called $program" ;; esac
	equal "the program" "$(readlink -f "$program")" "$(readlink -f "$W/by_loader")"
	equal "module 1" "$(dump_lines "$1" 1 | sed -n 's/^module 1 .* path=//p')" "$program"
	equal "by holds" "$(site_by "$1" 1 holds)" "100 1"
}

# tried: runs the program in all ways.
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
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) \
	-pthread || fail "cannot link with musl"
tried
