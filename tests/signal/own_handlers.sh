#!/bin/sh
# A program that uses SIGUSR1 itself sees what it sees untraced, and its dumps arrive.
#
# It sets handlers by sigaction and signal, before and after the tracer's start, with every flag. It
# also makes calls that take the signal without a handler.
. tests/lib.sh

for static in '' -static; do
	build_plain "plain$static" $static tests/signal/own_handlers.c
	build "traced$static" $static tests/signal/own_handlers.c

	# case, number of dumps by signal
	while read -r case dumps; do
		log=$W/$case$static.log
		"$W/plain$static" "$case" >"$W/$case$static.plain"
		equal "$case$static, plain" $? 0
		timeout 20 "$W/traced$static" "$case" >"$W/$case$static.traced" 2>"$log"
		equal "$case$static, traced" $? 0
		cmp -s "$W/$case$static.plain" "$W/$case$static.traced" || {
			diff "$W/$case$static.plain" "$W/$case$static.traced"
			fail "$case$static: the program sees something else"
		}
		equal "$case$static: dumps" "$(grep -c 'reason=signal' "$log")" "$dumps"
	done <<-END
		sigaction 2
		siginfo 1
		nodefer 1
		signal 1
		resethand 1
		ignore 1
		sigwait 1
		sigwaitinfo 1
		sigtimedwait 1
	END
done

# A library's handler, which was there before the tracer's.
$CC -O2 -shared -fPIC -o "$W/early.so" tests/signal/early_handler.c ||
	fail "cannot build early.so"
cat >"$W/raise.c" <<'END'
#include <signal.h>
int main(void) { return raise(SIGUSR1); }
END
build raise "$W/raise.c"
equal "the early handler" "$(LD_PRELOAD=$W/early.so "$W/raise" 2>"$W/early.log")" "early handler"
equal "the early handler: dumps" "$(grep -c 'reason=signal' "$W/early.log")" 1
