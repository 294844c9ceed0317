#!/bin/sh
# With uClibc-ng, whose own code has no unwind tables, every call site is found.
#
# Debian has no compiler for it. UCLIBC_CC names one, and UCLIBC_RUN the emulator for its programs.
# timeout: 400
. tests/lib.sh
. tests/targets/target.sh

has_uclibc || skip "$uclibc is not installed"
runtime uclibc CC="$uclibc"
run=$uclibc_run

program "$uclibc"
vendor "$uclibc"
for how in "" -no-pie -static; do
	# shellcheck disable=SC2086 # none or a flag
	relink "$uclibc" $how
	everything "uclibc $how"
	# What the C library keeps for a thread that has ended counts as reachable.
	leaks "uclibc $how"
	equal "uclibc $how: possibly lost" "$(dump_value "$W/log" 2 possible_blocks)" 0
done

# build_uclibc NAME SOURCE FLAG...: builds $W/NAME.
build_uclibc() {
	name=$1 source=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # lists
	"$uclibc" $TARGET_CFLAGS "$@" -o "$W/$name" "$source" -pthread \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) 2>"$W/link" ||
		fail "$name: $(tail -n 5 "$W/link")"
}

# Its waits make one dump for each signal.
build_uclibc own_handlers tests/signal/own_handlers.c -static
for how in sigaction signal sigwait sigwaitinfo sigtimedwait; do
	$run "$W/own_handlers" $how >"$W/out" 2>"$W/log" || fail "$how: status $?"
	case $how in sigaction) wanted=2 ;; *) wanted=1 ;; esac
	equal "$how: dumps" "$(grep -c 'reason=signal' "$W/log")" $wanted
done

# Its memalign and realloc free what they cut off from blocks by the public free. Nothing of that is
# the program's, and the tracer knows the whole heap. Its malloc-simple keeps what it cuts off.
cat >"$W/parts.c" <<'END'
#include <stdlib.h>
static void *volatile kept[40];
int main(void)
{
	for (unsigned i = 0; i < 32; i++) {
		void *between = malloc(100 + 17 * i);
		if (posix_memalign((void **)&kept[i], (size_t)64 << i % 4, 640) != 0)
			abort();
		free(between);
	}
	kept[32] = realloc(malloc(3000), 100);
	kept[33] = realloc(malloc(3000), 5000);
	for (unsigned i = 0; i < 34; i++)
		free(kept[i]);
	return 0;
}
END
for how in "" -static; do
	# shellcheck disable=SC2086 # none or a flag
	build_uclibc parts "$W/parts.c" $how
	LEAKWRAP_OPTIONS=misuse=report $run "$W/parts" 2>"$W/log" || fail "parts: status $?"
	equal "parts $how: lost" "$(dump_lines "$W/log" 1 | sed -n 's/^loss //p')" "$none_lost"
	equal "parts $how: heap" "$(dump_value "$W/log" 1 heap)" known
	! grep ' misuse ' "$W/log" || fail "parts $how: reports misuse"
done

# Only the program's blocks count. The C library's own are marked.
for how in "" -static; do
	# shellcheck disable=SC2086
	build_uclibc origin tests/link/origin.c $how
	$run "$W/origin" leaks >"$W/out" 2>"$W/log" || fail "origin: status $?"
	"$lw" report --fail-on-leaks --leak-kinds=all "$W/log" >"$W/out" 2>"$W/err"
	equal "origin $how: verdict" $? 1
	grep -q ' 1,500 bytes in 5 blocks are live' "$W/err" ||
		fail "origin $how: $(cat "$W/err" "$W/log")"
	grep -q origin=system_library "$W/log" || fail "origin $how: nothing is marked"
done

# Nothing of it escapes.
echo '#include <stdio.h>
#include <time.h>
int main(void) { time_t now = 0; return localtime(&now) == NULL; }' >"$W/zone.c"
for how in "" -static; do
	# shellcheck disable=SC2086
	build_uclibc zone "$W/zone.c" $how
	"$lw" audit --strict "$W/zone" >"$W/out" || fail "zone $how: $(cat "$W/out")"
done
echo "$tried programs"
