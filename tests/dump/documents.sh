#!/bin/sh
# README and manual pages agree with the program.
#
# This covers options, functions, make targets and links. Each promise of the documents has a test
# that shows it.
. tests/lib.sh

manual_text wrap/man/leakwrap-options.7 >"$W/options"
manual_text wrap/man/leakwrap.3 >"$W/functions"
manual_text wrap/man/*.[0-9] tools/man/*.[0-9] >"$W/pages"
texts="README.md wrap/README.md tests/bench/README.md .github/CONTRIBUTING.md"

# For each option that help=1 prints, with values, meaning and default, the page has a heading and
# sentences with the same text.
build puts tests/link/puts.c
LEAKWRAP_OPTIONS=help=1:exit=0 "$W/puts" 2>"$W/help" >/dev/null
sed -n 's/^leakwrap:   \([a-z_]*\)=\(.*\)  (\(.*\))  \(.*\)$/\1=\3|\4. Default: \2./p' \
	"$W/help" >"$W/said"
[ -s "$W/said" ] || fail "help=1 says nothing"
sed -n '/^OPTIONS/,/^NOTES/p' "$W/options" | sed 's/^ *//; s/   */ /g; s/\.  /. /g' >"$W/written"
while IFS='|' read -r heading meaning; do
	grep -ixF -A1 -e "$heading" "$W/written" >"$W/found" ||
		fail "leakwrap-options(7) does not have: $heading"
	grep -qiF -e "$meaning" "$W/found" || fail "leakwrap-options(7) does not say: $meaning"
done <"$W/said"
grep '^[a-z_]*=' "$W/written" | while read -r heading; do
	grep -qF -e "$heading|" "$W/said" ||
		fail "leakwrap-options(7) has '$heading', help=1 does not"
done || exit 1

sed -n 's/^LEAKWRAP_API .*\(leakwrap_[a-z_]*\)(.*/\1/p' wrap/leakwrap.h >"$W/declared"
[ -s "$W/declared" ] || fail "leakwrap.h has no functions"
while read -r function; do
	grep -q "$function(" "$W/functions" || fail "$function is not in leakwrap(3)"
done <"$W/declared"

# Each kind of misuse that a dump may have is explained.
manual_text wrap/man/leakwrap-dump.5 >"$W/dump"
sed -n 's/.*\[LEAKWRAP_MISUSE_[A-Z]*\] = "\(.*\)",/\1/p' report/misuse_writer.c >"$W/kinds"
[ -s "$W/kinds" ] || fail "misuse_writer.c has no kinds"
while read -r kind; do
	grep -qx " *$kind *" "$W/dump" || fail "leakwrap-dump(5) does not explain $kind"
done <"$W/kinds"

# So is each key=value of a dump: the page names the key in bold, or has it in a line of a dump, and
# format.h has it. An option that a message names is none.
sed 's#/\*.*\*/##; /\/\*/,/\*\//d' report/*.c | grep -o '"[^"]*"' |
	grep -oE '\b[a-z][a-z_]*=' | sort -u | grep -vx 'log_max=' >"$W/keys"
[ "$(wc -l <"$W/keys")" -gt 70 ] || fail "report/ has no keys"
sed -n 's/^\.B[IR]* //p' wrap/man/leakwrap-dump.5 | grep -oE '[a-z_]+' >"$W/bold"
while IFS='=' read -r key; do
	grep -qx "$key" "$W/bold" || grep -qE "(^| )$key=" wrap/man/leakwrap-dump.5 ||
		fail "leakwrap-dump(5) does not explain $key="
	grep -qw "$key" report/format.h || fail "report/format.h does not explain $key="
done <"$W/keys"

# shellcheck disable=SC2086 # a list of files
grep -oh '`make [a-z]*' $texts | cut -d' ' -f2 | grep . | sort -u >"$W/targets"
while read -r target; do
	grep -qE "^$target:" Makefile wrap/*.mk tools/*.mk tests/*.mk ||
		fail "make $target is no target"
done <"$W/targets"

sed -n 's/^\([a-z-]*\):.* ## .*/\1/p' Makefile wrap/*.mk tools/*.mk tests/*.mk >"$W/targets"
MAKEFLAGS='' make help >"$W/help"
while read -r target; do
	grep -q "^  $target " "$W/help" || fail "make help does not list $target"
done <"$W/targets"

# A newcomer reads the README to its end. Its links lead to files, its picture is small, and its
# report shows the right lines of the program.
lines=$(wc -l <README.md)
[ "$lines" -le 170 ] || fail "README.md has $lines lines"
grep -o '](\([^)#]*\))' README.md | tr -d '()]' | while read -r file; do
	[ -e "$file" ] || fail "README.md leads to $file, which is not there"
done || exit 1
[ "$(wc -c <tests/demo/page.png)" -lt 150000 ] || fail "tests/demo/page.png is large"
for function in greet_client serve main; do
	place=$(sed -n "s/^      $function  *\\.\\/\\(.*\\)/\\1/p" README.md)
	file=${place%:*}
	[ -n "$place" ] || fail "README.md has no report with $function"
	case $function in
	greet_client) call=malloc ;;
	serve) call=greet_client ;;
	main) call=serve ;;
	esac
	sed -n "${place#*:}p" "$file" | grep -q "$call(" ||
		fail "$place, which README.md shows, does not call $call"
done

# Each line has a promise and the tests that show it. A promise that the documents drop must go
# here, too.
# shellcheck disable=SC2086 # a list of files
cat $texts "$W/pages" | tr -d '`' | tr -s ' \n' ' ' >"$W/text"
promises=0
while IFS='|' read -r promise tests; do
	grep -qF -e "$promise" "$W/text" || fail "README and manual pages do not say: $promise"
	for test in $tests; do
		[ -x "tests/$test.sh" ] || fail "no tests/$test.sh shows: $promise"
	done
	promises=$((promises + 1))
done <<'END'
no extra thread, and no files beside the program|process/no_thread_no_descriptor
loader made the allocation for itself|alloc/against_valgrind link/origin
defines malloc and its relatives itself, and exports them|link/whole_process
The dump names these modules|link/whole_process
they come after the destructors of the shared libraries, too|link/whole_process
kinds are compared between calls of the program only|alloc/misuse
leaves it to the tracer|stress/valgrind
once for each place|alloc/misuse
the 128 largest call sites are shown|limits/address_space_full
The runtime adds 65 to 500 KiB of code and tables|targets/footprint
An allocation takes at most 5 KiB of the thread's stack|targets/footprint
not in the module list until the program itself calls dlopen|alloc/calls_past_the_wrap
dumps when one of them unblocks it|process/no_thread_no_descriptor
shows the tracer's handler for the five signals, until the program sets|unwind/crash_trace
that dies of a signal, or executes another in its place, writes no exit|process/exit_dump_once
Lines are written whole|dump/log_file
From these the leakwrap tool finds file and line|tool/finds_module_files tool/attribute
to tell a whole dump from a torn dump|tool/logs
is read instead|unwind/code bare/same_sites
make install PREFIX|link/install
writes a dump when the program gets a signal|signal/idle_process signal/busy_threads
and another when the program ends|process/exit_dump_once
it works on static binaries|dump/demo_lua dump/demo_sqlite
from the caller of malloc to main or the thread's start|unwind/relinked unwind/archives
relinks two programs, whose libraries Debian compiled|dump/demo_lua dump/demo_sqlite tool/demo
$(pkg-config --libs leakwrap) takes the place of both variables|link/pkgconfig
any subset links|link/subsets
stdout is flushed before the functions of atexit|targets/old_libc
Link the runtime into one object only|link/shared
-static and -fopenmp|link/openmp
The runtime wants this model, too|link/large_model
Start code of the program's own must call|link/own_start
There a call site is one caller, unless objects were compiled|targets/unknown_processor
A stack that overflows inside the tracer nearly always does so|signal/overflowing_coroutine
The other reports of the sanitizers stay as they are|link/compiler_libraries
A file of suppressions with the line race:leakwrap_ hides them|link/compiler_libraries
definitely or indirectly lost counts with --fail-on-leaks|tool/judge
only what is definitely or indirectly lost counts|tool/torture
Tested with bfd, gold, lld and mold|link/bfd link/gold link/lld link/mold
keep every call wrapped|link/lto
Without them a call jumps to address 0 where an object or archive|link/weak
keeps it by itself, unless --allocator= names its functions|link/kept_allocator
In a dynamic program whose whole process is traced the tracer still sees the calls|tool/audit
even when several processes dump into it at once|dump/log_file
One write has at most 4096 bytes, to a regular file at most 128 KB|unit/unit
Blocks whose address came back although no free was seen|alloc/unseen_frees
Frees of blocks that were never recorded|alloc/unseen_frees
for which there was no memory to record them|stress/failing_memory limits/memory_bound
The memory that leakwrap itself holds|limits/stated_cost limits/sparse_tables
bytes outside printable ASCII, the space and the backslash are written|unit/unit
costs one line on standard error|dump/options unit/unit
ignores the environment|process/secure_execution
Print this list on standard error|dump/documents dump/options
created with mode 0600. It is not followed when it is a symbolic link|dump/log_file
always appended to|dump/where_it_goes
A relative path counts from where the program was started|dump/where_it_goes
descriptor 2 is used only while it is what it was at start|dump/where_it_goes
nobody reads it, a dump waits ten seconds|dump/log_file
A file that the command reads is refused|tool/logs tool/torture
It is an error if there is no such call site|tool/torture
A log that cannot be opened, or does not take all of a dump|dump/log_file dump/where_it_goes
The tracer cuts backtraces to four frames before it loses them|limits/memory_bound
The tracer reports only what cannot be right|alloc/misuse link/allocators
also to a local variable of a function that has just returned|alloc/misuse targets/misuse_on_targets
musl adds the rest of these pages to its heap|targets/misuse_on_targets
leakwrap-report(1) shows it with file and line|tool/misuse_report
A program can bring its own defaults|dump/options unit/unit
A trace with registers and call chain when the program dies|unwind/crash_trace tool/crash_report
this thread's allocations are not shown in dumps|alloc/public_api
blocks of a pool or allocator of the program's own|alloc/public_api
the walk itself, for any purpose|unwind/backtrace alloc/public_api
results the caller frees are|link/every
is called directly. leakwrap-audit(1) finds such calls|tool/audit
its calls go wrong: leave that wrap out|tool/audit
may refer to a function only weakly|tool/audit
Another compiler than the last time makes it anew|link/compilers
before or after, runs after each dump|signal/own_handlers signal/shared_with_program
calls that SA_RESTART does not restart return EINTR|signal/idle_process
On x86 the other threads go on to sleep in most of them|reach/sleeping_threads
fail with EINTR in the main thread|unit/unit
hands on the default action instead; by exec it hands on what it has|dump/log_file process/exec
waits for it by sigwait|signal/own_handlers
Under a seccomp filter|process/seccomp_dumps
Neither do children of _Fork() or of the clone system call|dump/log_file
A dump takes less than 2 KiB|limits/small_footprint
newlib's allocator, and FreeRTOS's|bare/leaks bare/newlib
Stacks need neither tables nor frame pointers|bare/leaks bare/same_sites
each call site says which task it belongs to|bare/tasks
A fault then writes a dump with registers and call chain|bare/faults
On a Cortex-M3, in bytes|bare/sizes
When the memory is full the program runs on|bare/full bare/table
They come last among the executable's destructors|process/exit_dump_once
A child of vfork never dumps|process/exit_dump_once
dumps at its end only blocks that it has allocated since its fork|process/children_dumps
nothing since its fork and ends by _exit writes no dump|process/children_dumps
After 64 such dumps a child that keeps only what earlier ones kept|process/children_dumps
does what it does untraced|signal/between_relatives
So what is recognized is what a walk would find|unit/unit unwind/stacks
requests that arrive meanwhile are served after it|signal/request_during_dump signal/storm
It needs neither tables nor frame pointers|unwind/instrument
A value that contains a colon is quoted|unit/unit tool/dump
Every line begins with leakwrap[PID.N]|signal/busy_threads dump/log_file
N counts the dumps of the process from 1|signal/busy_threads dump/log_file
The percentage is the share of live bytes whose stacks are complete|unwind/frame_pointers
abort ends the program then|alloc/misuse
Up to 16,384 of the last freed blocks are known|alloc/misuse
In a static glibc program with all wraps that is everything it looks for|alloc/misuse
sigaction and signal show the program its own handler|signal/own_handlers
goes back to the system with the next dump|limits/memory_given_back
also for _exit and quick_exit|process/exit_dump_once
A thread that blocks the dump signal is not interrupted|process/no_thread_no_descriptor tool/dump
in containers, on embedded boards and in daemons|dump/where_it_goes limits/sparse_tables
riscv64-linux-gnu- and i686-linux-gnu- are tested as well|targets/arm_hard targets/arm_soft
riscv64-linux-gnu- and i686-linux-gnu- are tested|targets/aarch64 targets/riscv64 targets/i386
So are musl, uClibc-ng and dietlibc|targets/musl targets/uclibc targets/old_libc
-static-libgcc in the link|targets/cross
leakwrap report --sysroot=target/rootfs --exe=build/app|tool/finds_module_files
report --sysroot=target/rootfs --exe=build/app serial.txt|tool/emulated_programs
leakwrap report --format=html -o leaks.html server.log|tool/html
(a gzipped profile.proto)|tool/json tool/pprof
leakwrap report --growth server.log|tool/compare
leakwrap diff server.log@1 server.log@7|tool/compare
leakwrap report --fail-on-leaks --suppressions=known.supp ci.log|tool/judge
make CC="leakwrap cc -- gcc" relinks many projects without an edit|tool/cc
asks a running program for a dump|tool/dump
each command has --help and a page of its own|tool/manual
END
[ $promises -gt 40 ] || fail "only $promises promises"
