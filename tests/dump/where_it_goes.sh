#!/bin/sh
# A dump goes to standard error, to the log, and never into a data file of the program.
#
# Descriptor 2 may still be standard error, or the program's own log, or a data file. log= appends
# and never truncates. The tracer leaves no descriptor open.
. tests/lib.sh

build output tests/dump/where_it_goes.c

# same_descriptors CASE: the dump opened no descriptor and closed none.
same_descriptors() {
	equal "$1: descriptors" "$(sed -n 's/^after//p' "$W/$1.out")" \
		"$(sed -n 's/^set up//p' "$W/$1.out")"
}

# Standard error is what it was at the start: a file, then a pipe.
"$W/output" plain - >"$W/plain.out" 2>"$W/plain.log" || fail "status $?"
equal "standard error" "$(dumps "$W/plain.log" | wc -l)" 3
same_descriptors plain
{ "$W/output" plain - 2>&1 >"$W/pipe.out" || echo "status $?"; } | cat >"$W/pipe.log"
equal "a pipe" "$(dumps "$W/pipe.log" | wc -l)" 3

# The program may open no descriptors any more. The tracer names a log that it cannot open.
{ "$W/output" sandbox - 2>&1 >"$W/sandbox.out" || echo "status $?"; } | cat >"$W/sandbox.log"
equal "a sandbox" "$(dumps "$W/sandbox.log" | wc -l)" 3
same_descriptors sandbox
{
	LEAKWRAP_OPTIONS=log=$W/unopened.log "$W/output" sandbox - 2>&1 >"$W/sandbox.out" ||
		echo "status $?"
} | cat >"$W/sandbox.log"
grep -q "^leakwrap: cannot write a dump to .*/unopened.log" "$W/sandbox.log" ||
	fail "a sandbox: says nothing of the log: $(cat "$W/sandbox.log")"

# Descriptor 2 is a data file.
"$W/output" reused "$W/data" >"$W/reused.out" 2>"$W/reused.log" || fail "reused: status $?"
equal "the data file" "$(cat "$W/data")" "data"
same_descriptors reused

# Descriptor 2 is closed. The program runs on.
"$W/output" closed - >"$W/closed.out" 2>"$W/closed.log" || fail "closed: status $?"
same_descriptors closed

# Descriptor 2 is a log of the program's own.
"$W/output" append "$W/own.log" >"$W/append.out" 2>"$W/append.log" || fail "append: status $?"
equal "the program's own log" "$(dumps "$W/own.log" | wc -l)" 3
same_descriptors append

# Descriptor 2 has become a terminal, or another pipe.
for kind in terminal pipe; do
	LEAKWRAP_OPTIONS=exit=0 "$W/output" $kind "$W/$kind.copy" >"$W/$kind.out" ||
		fail "$kind: status $?"
	equal "$kind" "$(tr -d '\r' <"$W/$kind.copy" | grep -c '\] end ')" 2
	same_descriptors $kind
done

# A signal that is pending stays pending, and the dumps after a lost dump say so.
LEAKWRAP_OPTIONS=exit=0 "$W/output" pending - || fail "a pending signal: status $?"
LEAKWRAP_OPTIONS=exit=0 "$W/output" lost - 2>"$W/lost.log" || fail "a lost dump: status $?"
said=$(sed -n 's/.*reason=\([a-z]*\) .*/\1/p; s/.*\] note \(earlier.*\)/\1/p' "$W/lost.log")
equal "after a lost dump" "$(echo "$said" | tr '\n' ' ')" \
	"api signal earlier dumps could not be written whole "

# The log does not get a descriptor that means something to the program, not even for the dump.
cat >"$W/low.c" <<'END'
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
static int writes, low;
long __real_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	writes += number == SYS_write;
	low += number == SYS_write && a <= 2;
	return __real_leakwrap_call_kernel(number, a, b, c, d, e, f);
}
int main(void)
{
	close(0);
	close(1);
	close(2);
	raise(SIGUSR1);
	return low != 0 || writes == 0;
}
END
build low "$W/low.c" -Wl,--wrap=leakwrap_call_kernel
LEAKWRAP_OPTIONS=log=$W/low.log:exit=0 "$W/low" || fail "a low descriptor: status $?"

# log= appends to the file and keeps its contents.
echo "precious" >"$W/kept.log"
for _ in 1 2; do
	LEAKWRAP_OPTIONS=log=$W/kept.log "$W/output" plain - >"$W/kept.out" 2>"$W/kept.err" ||
		fail "log: status $?"
	[ ! -s "$W/kept.err" ] || fail "log=: also on standard error: $(cat "$W/kept.err")"
done
equal "what was in the log" "$(head -n 1 "$W/kept.log")" "precious"
equal "dumps in the log" "$(dumps "$W/kept.log" | wc -l)" 6
same_descriptors kept

# log= works even if descriptor 2 is a data file.
LEAKWRAP_OPTIONS=log=$W/late.log "$W/output" reused "$W/data" >"$W/late.out" 2>/dev/null ||
	fail "late: status $?"
equal "dumps past a data file" "$(dumps "$W/late.log" | wc -l)" 3
equal "the data file, again" "$(cat "$W/data")" "data"

# A relative path of a log counts from the folder where the program was started.
cat >"$W/chdir.c" <<'END'
#include <unistd.h>
int main(void) { return chdir("/"); }
END
build chdir "$W/chdir.c"
(cd "$W" && LEAKWRAP_OPTIONS=log=relative.log ./chdir) || fail "chdir: status $?"
equal "a relative log" "$(dumps "$W/relative.log" | wc -l)" 1
# The folder's own name has no conversions.
mkdir "$W/caf%e9 %n%%"
(cd "$W/caf%e9 %n%%" && LEAKWRAP_OPTIONS=log=%e.log ../chdir) || fail "chdir: status $?"
equal "a log in a folder with %" "$(dumps "$W/caf%e9 %n%%/chdir.log" | wc -l)" 1

# The reader has gone, or the disk is full: the dump is lost, and the program runs on.
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
grep -q "^leakwrap: cannot write all of a dump to '/dev/full': error 28 (the disk is full)$" \
	"$W/full.log" || fail "says nothing of a full disk: $(cat "$W/full.log")"
same_descriptors full

# Files may not become larger. The copy of the process that looks for lost memory says so, too.
for kinds in never always; do
	(
		ulimit -f 1
		LEAKWRAP_OPTIONS=log=$W/limited.$kinds:kinds=$kinds "$W/output" plain - \
			>"$W/limited.out" 2>"$W/limited.err"
	) || fail "a limit of files: status $?"
	said=$(sed "s|.* all of a dump to '$W/limited.$kinds': ||" "$W/limited.err" | sort -u)
	equal "a limit of files" "$said" "error 27 (files may not become larger: ulimit -f)"
done
