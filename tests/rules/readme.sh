#!/bin/sh
# The README says what the program says: the table of options is the one that help=1 prints, every public
# function of leakwrap.h is in it, and so is every make target it names in the Makefile.  What it promises, a test shows.
. tests/lib.sh

build puts tests/link/puts.c
LEAKWRAP_OPTIONS=help=1:exit=0 "$W/puts" 2>"$W/help" >/dev/null
sed -n 's/^leakwrap:   \([a-z_]*\)=\(.*\)  (\(.*\))  \(.*\)$/\1|\2|\3|\4/p' "$W/help" >"$W/said"
# shellcheck disable=SC2016 # backquotes of the README
sed -n 's/^| `\([a-z_]*\)` | `\(.*\)` | \(.*\) | \(.*\) |$/\1|\2|\3|\4/p' README.md >"$W/written"
[ -s "$W/said" ] || fail "help=1 says nothing"
diff "$W/said" "$W/written" || fail "the README's table of options differs from help=1"

sed -n 's/^LEAKWRAP_API .*\(leakwrap_[a-z_]*\)(.*/\1/p' wrap/leakwrap.h >"$W/functions"
[ -s "$W/functions" ] || fail "leakwrap.h has no functions"
while read -r function; do
	grep -q "$function" README.md || fail "$function is not in the README"
done <"$W/functions"

grep -o '`make [a-z]*' README.md | cut -d' ' -f2 | grep . | sort -u >"$W/targets"
while read -r target; do
	grep -qE "^$target:" Makefile wrap/*.mk tools/*.mk tests/*.mk || fail "make $target is no target"
done <"$W/targets"

# Each promise, and the test that shows it.  A promise that the README no longer makes must go here, too.
tr -s ' \n' ' ' <README.md >"$W/text"
promises=0
while IFS='|' read -r promise tests; do
	grep -qF -e "$promise" "$W/text" || fail "the README does not say: $promise"
	for test in $tests; do
		[ -x "tests/$test.sh" ] || fail "no tests/$test.sh shows: $promise"
	done
	promises=$((promises + 1))
done <<'END'
no extra thread, no files beside the program|rules/guest
`origin=system_library` says that a static program's C or C++ library made the allocation itself|rules/outside
once for each place|rules/misuse
come to the limit of its address space, the 128 largest call sites are shown|rules/no_room
The runtime adds 65 to 165 KiB of code and tables|targets/footprint
An allocation takes at most 4 KiB of the thread's stack|targets/footprint
are not in the module list until the program itself calls `dlopen` or `dlclose`|rules/outside
`sscanf("%ms")`|rules/outside
dumps when one of them unblocks it|rules/guest
`sigaction` shows the tracer's handler for the five signals, until the program sets another action|unwind/crash
A program that dies of a signal, or executes another in its place, writes no exit dump|rules/exits
Lines are written whole|rules/log
from which the `leakwrap` tool finds file and line|tool/files tool/attribute
to tell a whole dump from a torn one|tool/logs
is read instead|unwind/code bare/targets
`make install PREFIX|link/install
whenever you send the process a signal, and when it ends|rules/idle rules/exits rules/threads
it works on static binaries|rules/demo_lua rules/demo_sqlite
reach `main` or the thread's start|unwind/relinked unwind/archives
relinks two real programs from archives that Debian ships compiled|rules/demo_lua rules/demo_sqlite
With pkg-config, `$(pkg-config --libs leakwrap)`|link/pkgconfig
any subset links|link/subsets
link the runtime into one object only|link/shared
with `-static`, and a library that the compiler adds itself|link/openmp
Tested with bfd, gold, lld and mold|link/bfd link/gold link/lld link/mold
keep every call wrapped|link/lto
even when several processes dump into it at once|rules/log
at most 4096 bytes at a time, to a file 128 KB|stress/unit
blocks whose address came back although no free was seen|rules/elsewhere
frees of blocks that were never recorded|rules/elsewhere
for which there was no memory to record them|stress/sweep rules/bound
the memory that leakwrap itself holds|rules/cost rules/sparse
bytes outside printable ASCII and the backslash are written|stress/unit
costs one line on standard error|rules/options stress/unit
ignores the environment|rules/secure
`help=1` prints this list|rules/readme rules/options
created with mode 0600, and not followed when it is a symbolic link|rules/log
always appended to|rules/output
A relative path counts from where the program was started|rules/output
descriptor 2 is used only while it is what it was at start|rules/output
nobody reads is waited for ten seconds|rules/log
a log that cannot be opened, or does not take all of a dump, is named on standard error|rules/log rules/output
`memory=` cuts backtraces to four frames before it loses them|rules/bound
It reports only what cannot be right|rules/misuse link/allocators
`leakwrap report` shows it with file and line|tool/misuse
A program can bring its own defaults|rules/options stress/unit
a trace with registers and call chain when the program dies|unwind/crash tool/crash
this thread's allocations between the two are not shown|rules/api
blocks of a pool or allocator of the program's own|rules/api
the walk itself, for any purpose|unwind/backtrace rules/api
results the caller frees are|link/every
called directly. `leakwrap audit` finds them|tool/audit
its calls go wrong: leave that wrap out|tool/audit
refers to weakly alone|tool/audit
Another compiler than the last time makes it anew|link/compilers
A handler that the program installs for it, before or after, runs after each dump|rules/handlers rules/sharing
calls that `SA_RESTART` does not restart return `EINTR`|rules/idle
hands on the default action instead; by `exec` it hands on what it has|rules/log rules/exec
waits for it by `sigwait`|rules/handlers
Under a seccomp filter|rules/confined
Neither do children of `_Fork()` or of the `clone` system call|rules/log
a dump less than 2 KiB|rules/small_room
newlib's allocator, and FreeRTOS's|bare/leaks bare/newlib
Stacks need neither tables nor frame pointers|bare/leaks bare/targets
call site says which task it belongs to|bare/tasks
a fault is told with registers and call chain|bare/faults
on a Cortex-M3|bare/sizes
When the memory is full the program runs on|bare/full bare/table
Exit dumps come last among the executable's destructors|rules/exits
a forked child that calls `_exit` dumps only if it allocated, a vfork child never|rules/exits
So what is recognized is what a walk would find|stress/unit unwind/stacks
One dump at a time; requests that arrive meanwhile are served after it|rules/pending rules/overload
It needs neither tables nor frame pointers|unwind/instrument
Values that contain a colon are quoted|stress/unit tool/dump
Every line begins with `leakwrap[PID.N]`, where N counts the dumps of the process from 1|rules/threads rules/log
The percentage is the share of live bytes whose stacks are complete|rules/frames
abort ends the program then|rules/misuse
freed blocks up to 16,384 are known|rules/misuse
In a static glibc program with all wraps that is everything it looks for|rules/misuse
`sigaction` and `signal` show the program its own|rules/handlers
goes back to the system with the next dump|rules/shrink
also for `_exit` and `quick_exit`|rules/exits
A thread that blocks the dump signal is not interrupted|rules/guest tool/dump
in containers, on embedded boards and in daemons|rules/output rules/sparse
`riscv64-linux-gnu-` and `i686-linux-gnu-` are tested as well|targets/arm_hard targets/arm_soft targets/aarch64 targets/riscv64 targets/i386
so are musl and dietlibc|targets/musl targets/old_libc
`-static-libgcc` in the link|targets/cross
leakwrap report --sysroot=rootfs --exe=build/server serial.txt|tool/files tool/targets
leakwrap report --format=html -o leaks.html server.log|tool/html
leakwrap report --format=json|tool/json tool/pprof
leakwrap report --growth server.log|tool/compare
leakwrap diff server.log@1 server.log@7|tool/compare
leakwrap report --fail-on-leaks --suppressions=known.supp ci.log|tool/judge
leakwrap cc -- gcc -o app app.o vendor.a|tool/cc
leakwrap dump 4711|tool/dump
Each has `--help` and a manual page|tool/manual
END
[ $promises -gt 40 ] || fail "only $promises promises"
