#!/bin/sh
# On x86-64 with musl, whose own code has no unwind tables, every call site is found.
# timeout: 400
. tests/lib.sh
. tests/targets/target.sh

command -v musl-gcc >/dev/null || skip "musl-gcc is not installed"
case $(musl-gcc -dumpmachine) in
x86_64-*) ;;
*) skip "the last frames in musl are guessed on this processor" ;;
esac
runtime x86_64-linux-musl CC=musl-gcc
run=

program musl-gcc
vendor musl-gcc
for how in -pie -no-pie -static -static-pie; do
	relink musl-gcc $how
	everything "musl-gcc $how"
done

# build_musl FOLDER/NAME FLAG...: builds $W/NAME from tests/FOLDER/NAME.c.
build_musl() {
	source=tests/$1.c name=${1#*/}
	shift
	# shellcheck disable=SC2046,SC2086 # lists
	musl-gcc $TARGET_CFLAGS "$@" -o "$W/$name" "$source" -pthread \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
			of_runtime) 2>"$W/link" ||
		fail "$name: $(tail -n 5 "$W/link")"
}

# musl makes one wait of another, but there is one dump for each signal.
build_musl signal/own_handlers -static
for how in sigwait sigwaitinfo sigtimedwait; do
	"$W/own_handlers" $how >"$W/out" 2>"$W/log" || fail "$how: status $?"
	equal "$how: dumps" "$(grep -c 'reason=signal' "$W/log")" 1
done

# The main thread's stack ends at the place of the environment at the start.
build_musl process/environment -fno-omit-frame-pointer
LEAKWRAP_OPTIONS=unwind=fp "$W/environment" 2>"$W/log" || fail "environment: status $?"
equal "another environment: truncated" "$(dump_value "$W/log" 1 truncated_blocks)" 0

# Only the program's blocks live. musl's own blocks are marked. The tracer's own block is not
# listed.
echo 'int main(void) { return 0; }' >"$W/empty.c"
musl_flags=$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime)
# shellcheck disable=SC2086 # lists
musl-gcc -static -o "$W/empty" "$W/empty.c" $musl_flags || fail "empty: does not link"
"$W/empty" 2>"$W/log" || fail "empty: status $?"
equal "empty: live blocks" "$(dump_value "$W/log" 1 live_blocks)" 0
# shellcheck disable=SC2086
musl-gcc -static $TARGET_CFLAGS -o "$W/origin" tests/link/origin.c $musl_flags ||
	fail "origin: does not link"
"$W/origin" leaks >"$W/out" 2>"$W/log" || fail "origin: status $?"
"$lw" report --fail-on-leaks --leak-kinds=all "$W/log" >"$W/out" 2>"$W/err"
equal "origin: verdict" $? 1
grep -q ' 1,500 bytes in 5 blocks are live' "$W/err" || fail "origin: $(cat "$W/err" "$W/log")"
"$W/origin" >"$W/out" 2>"$W/log" || fail "origin: status $?"
"$lw" report --fail-on-leaks "$W/log" >"$W/out" 2>"$W/err" ||
	fail "origin, clean: $(cat "$W/err" "$W/log")"
grep -q origin=system_library "$W/log" || fail "origin: nothing of musl is marked: $(cat "$W/log")"

# An allocator of another name. Debian's musl-gcc cannot link what cleans up behind exceptions.
$CC -O1 -c -o "$W/pool.o" tests/alloc/freed_at_once.c -DPOOL || fail "cannot compile"
for how in "" -static; do
	# shellcheck disable=SC2086 # none or a flag
	LEAKWRAP_LIB=$lib "$lw" cc --allocator='malloc=single_alloc,free=single_free' -- \
		musl-gcc $how -O1 -o "$W/pool" tests/alloc/freed_at_once.c "$W/pool.o" ||
		fail "named $how: does not link"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log:exit=0 "$W/pool" || fail "named $how: status $?"
	equal "named $how" "$(site_by "$W/log" 1 fill)" "2035960 999"
done

# musl's own functions call its allocator by the second names.
echo '#include <stdio.h>
#include <time.h>
int main(void) { time_t now = 0; return localtime(&now) == NULL; }' >"$W/zone.c"
# shellcheck disable=SC2086
musl-gcc -static -o "$W/zone" "$W/zone.c" $musl_flags || fail "zone: does not link"
"$lw" audit --strict "$W/zone" >"$W/out" || fail "zone: $(cat "$W/out")"
echo "$tried programs"
