#!/bin/sh
# Parts of the runtime and of the tool work alone, under AddressSanitizer,
# UndefinedBehaviorSanitizer and ThreadSanitizer.
#
# ThreadSanitizer runs what threads do at the same time, so units with threads. With UNIT_LONG=1 it
# runs all. A unit that stops at each instruction (stepping.h) is compiled as the runtime is: the
# sanitizers would put many instructions between. There are half as many numbers of call sites as in
# a program, because units use all of them up (limits/live_call_sites has two million).
# timeout: 900
. tests/lib.sh
. tests/unit/unit_needs.sh

make -s O="$O" "$O/include/uthash.h" || fail "no uthash.h"

# Local-exec: ld turns "add" into "lea" where it knows a thread's variable, and "lea" sets no flags.
# gcc 12 uses the flags, to look whether the variable's address is NULL.
compile() {
	sanitized="-O1 -fsanitize=$1 -fno-sanitize-recover=all"
	case $1 in
	none) sanitized=-O2 ;;
	thread) sanitized="$sanitized -D__SANITIZE_THREAD__=1" ;; # gcc's macro, which clang lacks
	esac
	# shellcheck disable=SC2086 # lists
	$CC -std=gnu11 $sanitized -g -Wall -Wextra -Werror -Wno-tsan \
		-Wno-unknown-warning-option -D_GNU_SOURCE -I"$O/include" -I. \
		-Iwrap -DLEAKWRAP_SITE_BITS=20 ${UNIT_LONG:+-DUNIT_LONG} \
		-fno-omit-frame-pointer -ftls-model=local-exec -c -o "$2" "$3" 2>"$2.err" ||
		fail "cannot compile $3 with $1: $(cat "$2.err")"
}

# unit SOURCE SANITIZERS: builds and runs a unit test. SANITIZERS may be none.
unit() {
	name=$(basename "$1" .c)
	# shellcheck disable=SC2046 # a list
	compile_objects "$2" "$1" $(unit_need "$1" sources)
	[ "$2" = none ] && sanitized='' || sanitized=-fsanitize=$2
	# shellcheck disable=SC2046,SC2086 # lists
	$CC $sanitized -o "$W/$name.$2" $objects $(unit_need "$1" flags) -pthread \
		2>"$W/$name.err" || fail "cannot link $name with $2: $(cat "$W/$name.err")"
	# ThreadSanitizer needs the address space of its own time, without more randomization.
	# Newer versions of AddressSanitizer would not keep arrays on the stack.
	ASAN_OPTIONS=detect_stack_use_after_return=0 TSAN_OPTIONS=halt_on_error=1 \
		${FIXED_LAYOUT-setarch -R} "$W/$name.$2" >"$W/$name.$2.out" 2>&1 ||
		fail "$name, $2: status $?: $(head -n 60 "$W/$name.$2.out")"
}

bits=$(getconf LONG_BIT)
# gcc has no ThreadSanitizer for 32 bits.
[ "$bits" = 64 ] || echo "left out: ThreadSanitizer with $bits bits"
for source in ${UNITS:-tests/unit/*.c}; do
	wanted=$(unit_need "$source" bits)
	[ "${wanted:-$bits}" = "$bits" ] || {
		echo "left out: $source with $bits bits"
		continue
	}
	! grep -q '"stepping.h"' "$source" || unit "$source" none
	if [ -n "${UNIT_LONG-}" ] || ! grep -q '"stepping.h"' "$source"; then
		unit "$source" address,undefined
	fi
	[ "$bits" = 64 ] || continue
	if [ -n "${UNIT_LONG-}" ] || grep -q pthread_create "$source"; then
		unit "$source" thread
	fi
done
