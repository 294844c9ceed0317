#!/bin/sh
# Where dumps go, and where they never go: descriptor 2 when it is standard error, or the program's log, but
# not when a data file has taken its number.  log= appends, never truncates; nothing stays open.
. tests/lib.sh

build output tests/dump/where_it_goes.c

# same CASE: nothing was opened, nothing closed.
same_descriptors() {
	equal "$1: descriptors" "$(sed -n 's/^after//p' "$W/$1.out")" "$(sed -n 's/^set up//p' "$W/$1.out")"
}

# Standard error as it was at start: a file, a pipe.
"$W/output" plain - >"$W/plain.out" 2>"$W/plain.log" || fail "status $?"
equal "standard error" "$(dumps "$W/plain.log" | wc -l)" 3
same_descriptors plain
{ "$W/output" plain - 2>&1 >"$W/pipe.out" || echo "status $?"; } | cat >"$W/pipe.log"
equal "a pipe" "$(dumps "$W/pipe.log" | wc -l)" 3

# Also from a program that may open no descriptors any more; a log that it cannot open is named.
{ "$W/output" sandbox - 2>&1 >"$W/sandbox.out" || echo "status $?"; } | cat >"$W/sandbox.log"
equal "a sandbox" "$(dumps "$W/sandbox.log" | wc -l)" 3
same_descriptors sandbox
{ LEAKWRAP_OPTIONS=log=$W/unopened.log "$W/output" sandbox - 2>&1 >"$W/sandbox.out" || echo "status $?"; } | cat >"$W/sandbox.log"
grep -q "^leakwrap: cannot write a dump to .*/unopened.log" "$W/sandbox.log" || fail "a sandbox: says nothing of the log: $(cat "$W/sandbox.log")"

# A data file.
"$W/output" reused "$W/data" >"$W/reused.out" 2>"$W/reused.log" || fail "reused: status $?"
equal "the data file" "$(cat "$W/data")" "data"
same_descriptors reused

# Closed: the program runs on.
"$W/output" closed - >"$W/closed.out" 2>"$W/closed.log" || fail "closed: status $?"
same_descriptors closed

# A log that the program opens in its place.
"$W/output" append "$W/own.log" >"$W/append.out" 2>"$W/append.log" || fail "append: status $?"
equal "the program's own log" "$(dumps "$W/own.log" | wc -l)" 3
same_descriptors append

# log=: appended, with what was there before.
echo "precious" >"$W/kept.log"
for _ in 1 2; do
	LEAKWRAP_OPTIONS=log=$W/kept.log "$W/output" plain - >"$W/kept.out" 2>"$W/kept.err" || fail "log: status $?"
	[ ! -s "$W/kept.err" ] || fail "log=: also on standard error: $(cat "$W/kept.err")"
done
equal "what was in the log" "$(head -n 1 "$W/kept.log")" "precious"
equal "dumps in the log" "$(dumps "$W/kept.log" | wc -l)" 6
same_descriptors kept

# log= works where standard error does not.
LEAKWRAP_OPTIONS=log=$W/late.log "$W/output" reused "$W/data" >"$W/late.out" 2>/dev/null || fail "late: status $?"
equal "dumps past a data file" "$(dumps "$W/late.log" | wc -l)" 3
equal "the data file, again" "$(cat "$W/data")" "data"

# A relative log stays where it was meant at start.
cat >"$W/chdir.c" <<'END'
#include <unistd.h>
int main(void) { return chdir("/"); }
END
build chdir "$W/chdir.c"
(cd "$W" && LEAKWRAP_OPTIONS=log=relative.log ./chdir) || fail "chdir: status $?"
equal "a relative log" "$(dumps "$W/relative.log" | wc -l)" 1

# A reader that has gone, a full disk: the dump is lost, not the program.
mkfifo "$W/nobody"
(
	# shellcheck disable=SC2094 # a pipe, first with a reader, then without
	exec 3<>"$W/nobody" 4>"$W/nobody" 3<&-
	"$W/output" plain - >"$W/gone.out" 2>&4 4>&-
	echo $? >"$W/gone.status"
)
equal "status without a reader" "$(cat "$W/gone.status")" 0
same_descriptors gone
LEAKWRAP_OPTIONS=log=/dev/full "$W/output" plain - >"$W/full.out" 2>"$W/full.log"
equal "status with a full disk" $? 0
grep -q "^leakwrap: cannot write all of a dump to '/dev/full'" "$W/full.log" || fail "says nothing of a full disk"
same_descriptors full
