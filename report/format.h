/* format.h - the text format of a dump, version 1.  The runtime writes it, and the leakwrap tool
 * reads it.  What else they share is at the end of wrap/layers, and in wrap/rules/memory.h.
 *
 * A dump is a sequence of lines, with lines of other programs between them.
 *
 *   Every line starts with "leakwrap[PID.N] ".  N is the number of the dump in its process, from 1.
 *   A line ends in LF, and has at most LEAKWRAP_LINE_MAX bytes with it.
 *   Lines are written whole, several to a write.  A write has at most PIPE_BUF bytes unless it goes
 *   to a regular file.  So lines of several processes may alternate, but do not mix.
 *   Numbers are decimal.  Addresses and offsets are hexadecimal behind 0x.
 *
 * The order of the lines is fixed.  A line that is too wide for this page goes on behind a
 * backslash, which is not part of it:
 *
 *   leakwrap[4711.1] dump version=1 reason=signal time=2026-11-20T18:36:07Z uptime=5310 \
 *           program=/opt/app/server
 *   leakwrap[4711.1] command /opt/app/server --port 8080 --name a\x20server
 *   leakwrap[4711.1] crash signal=11 code=1 fault_address=0x0 thread=4712   only if reason=crash
 *   leakwrap[4711.1] registers rip=0x55d0c8a01230 rsp=0x7ffd2f10 ...         any number of lines
 *   leakwrap[4711.1]   #0 0x55d0c8a01230 load_config+0x20 [1] server+0x1230
 *   leakwrap[4711.1] total live_bytes=1203344 live_blocks=10432 call_sites=57
 *   leakwrap[4711.1] sampling sample_interval=524288 sampled_blocks=93 live_bytes_error=126112
 *   leakwrap[4711.1] allocated allocated_bytes=7211003 allocated_blocks=90332 temporary_blocks=41
 *   leakwrap[4711.1] stacks complete_stack_bytes_percent=99.98 truncated_blocks=3 \
 *           guessed_blocks=0 depth=64
 *   leakwrap[4711.1] loss untracked_blocks=0 untracked_bytes=0 lost_call_sites=0 \
 *           freed_elsewhere_blocks=0 foreign_frees=12
 *   leakwrap[4711.1] tracer tracer_bytes=1310720
 *   leakwrap[4711.1] coverage process
 *   leakwrap[4711.1] bypass bound path=/opt/app/plugin.so                    any number of lines
 *   leakwrap[4711.1] kinds definite_bytes=40 definite_blocks=1 indirect_bytes=80 ... pause_ns=53211
 *   leakwrap[4711.1] note TEXT          any number of lines; TEXT is something a person should know
 *   leakwrap[4711.1] site 1: 819200 bytes in 25 blocks, complete
 *   leakwrap[4711.1]   #0 0x55d0c8a01234 load_config+0x24 [1] server+0x1234
 *   leakwrap[4711.1]   #1 0x55d0c8a01301 main+0x41 [1] server+0x1301
 *   leakwrap[4711.1]   #2 0x7f20cb45224a ? [2] libc.so.6+0x2724a
 *   leakwrap[4711.1] memory heap=known allocator=glibc thread_pointer=0x7f20cb429740 \
 *           thread_state=0x7f20cb4296b0-0x7f20cb429738 \
 *           stack_layout=0x940,0x2b0,0x801000                  only with the option blocks=1
 *   leakwrap[4711.1] own 0x7f20cb600000-0x7f20cb610000                       any number of lines
 *   leakwrap[4711.1] root 0x7f20cb700000-0x7f20cb700010                      any number of lines
 *   leakwrap[4711.1] stack 0x20001000-0x20001800 sp=0x200016c8    only without an operating system
 *   leakwrap[4711.1] blocks 1:0x55d0c9a012a0+32768 1:0x55d0c9a092b0+32768    any number of lines
 *   leakwrap[4711.1] injected failures=1           only if allocations were made to fail
 *   leakwrap[4711.1] failed 1: hit=1 bytes=40 identity=0x8d1c67f2a3b4c5d6
 *   leakwrap[4711.1]   #0 0x55d0c8a01402 open_session+0x12 [1] server+0x1402
 *   leakwrap[4711.1] module 1 0x55d0c8a00000-0x55d0c8a08000 bias=0x55d0c8a00000 \
 *           build_id=0a1b2c... path=/opt/app/server
 *   leakwrap[4711.1] end sites=57 lines=240 dump_ns=812345
 *
 * dump    reason is exit, signal, api, crash, misuse, or what the option dump_at= asks for:
 *         threshold, height or failure.  For the last three a note says more.  time is UTC, in the
 *         format of RFC 3339.  uptime is the time since the machine started, in seconds, if it is
 *         known: nobody can set it.  program is the rest of the line.
 * command The command line that started the program, if it is known and the option command= is 1.
 *         The line has the words of the command line, with a space in front of each.  An empty word
 *         is written as a single backslash.  At most 960 bytes of the command line are copied.  If
 *         it is longer, the last word ends in \...
 * crash   The signal's number, si_code, si_addr if the signal has it (sigaction(2)), and the
 *         thread's id.  Registers have their names in the ABI.  The frames that follow are the
 *         frames of the thread.  #0 is the interrupted instruction itself, not a return address.
 *         Without an operating system "exception=NAME" comes first, with the processor's name for
 *         the exception.  signal and code are then the values that Linux would send.  thread is
 *         then the number of the running task.  " task=NAME" follows if the task has a name.  A
 *         register that the processor could not store is missing.  If pc is missing, a note says
 *         why, and there are no frames.
 * misuse  Only in a dump with reason=misuse.  Such a dump has neither totals nor call sites:
 *
 *             leakwrap[4711.1] misuse double_free pointer=0x55d0c9a012a0 thread=4712 function=free
 *             leakwrap[4711.1]   #0 0x4015b7 close_session+0x37 [1] server+0x15b7
 *             leakwrap[4711.1] misuse released
 *             leakwrap[4711.1]   #0 0x401612 on_timeout+0x22 [1] server+0x1612
 *             leakwrap[4711.1] misuse block address=0x55d0c9a012a0 bytes=40
 *             leakwrap[4711.1]   #0 0x401402 open_session+0x12 [1] server+0x1402
 *
 *         The first line shows the wrong release: its kind, the pointer, the thread's id and, as
 *         the rest of the line, the function that releases.  The kinds are:
 *
 *             double_free       the block was released before
 *             interior_pointer  the pointer is inside a block
 *             stack_pointer     the pointer is on the thread's own stack
 *             static_pointer    the pointer is in the memory of a module
 *             mismatch          a function of another family allocated the block
 *
 *         "released" comes with a double free, and shows the release before.  "block" shows the
 *         block that the pointer belongs to, if there is a block: its first address and its size.
 *         For a mismatch the function that allocated the block follows, as the rest of the line.
 *         The frames after the three lines are the frames of the wrong release, of the release
 *         before, and of the allocation.
 * total   All live blocks, also at call sites that the options top= and min_bytes= do not show.
 *         In a forked child whose exit dump is to show its own blocks (children=own) three keys
 *         follow.  inherited_bytes and inherited_blocks are the live blocks from before the fork.
 *         inherited=included if the dump shows these blocks, too; inherited=left_out if not.
 * recording
 *         Only if not all blocks were recorded at some time.  What is recorded now, off, sample or
 *         all, and since when.  Blocks that were allocated while recording was off are in no
 *         number: missing=possible if it was off at some time, missing=none if it never was:
 *
 *             leakwrap[4711.1] recording state=off since=2026-11-20T18:36:07Z missing=possible
 *
 * sampling
 *         Only if a sample of the blocks is or was recorded.  Live bytes and blocks are estimates
 *         then, in the line total and at the call sites:
 *
 *             sample_interval   bytes, on average, for which one block is recorded
 *             sampled_blocks    the recorded blocks that are live
 *             live_bytes_error  the standard error of live_bytes
 *
 * allocated
 *         Only with the option allocated=1, or after blocks were sampled, while the state is not
 *         all: the blocks and bytes that were allocated so far, also what was freed again.
 *         temporary_blocks: those of these blocks that were freed before their thread allocated
 *         again.  In a sample the numbers are estimates.
 * peak    Only with the option peak=1: the live bytes and blocks when most bytes were live, as far
 *         as the heap's growth was looked at, and when that was.  In a sample they are estimates:
 *
 *             leakwrap[4711.1] peak peak_bytes=N peak_blocks=N peak_time=2026-11-20T18:36:07Z
 *
 * mark    Only after leakwrap mark or leakwrap_mark: the live bytes and blocks that were allocated
 *         since, and when that was:
 *
 *             leakwrap[4711.1] mark since_mark_bytes=N since_mark_blocks=N mark_time=...
 *
 * stacks  The share of live bytes whose stacks are complete; "none" if there are no live bytes.
 *         The live blocks whose stacks are truncated, and those whose stacks are guessed.  depth
 *         is the option: a truncated stack with this number of frames was cut there.
 * loss    What the numbers above miss.  Each key counts since the process started or was forked:
 *
 *             untracked_*             allocations that were not recorded, for lack of memory
 *             lost_call_sites         backtraces that were not recorded, for lack of memory or
 *                                     because the table of call sites is full of call sites with
 *                                     live blocks; their blocks are shown at a call site without
 *                                     frames
 *             freed_elsewhere_blocks  blocks whose address was allocated again, although no free
 *                                     had been seen
 *             foreign_frees           frees of blocks that were never recorded
 *             left_out_blocks, left_out_bytes
 *                                     live blocks and bytes of the system's libraries, which the
 *                                     option system=0 leaves out of everything else; only with
 *                                     this option
 *
 * tracer  The memory that the tracer holds for itself.
 * coverage  "process": the calls of all modules are recorded.  "program": only the calls of the
 *         program's own objects are, not those of its shared libraries.  Not without an operating
 *         system.
 * bypass  Only with "coverage process": a module whose calls pass the tracer by, and why:
 *
 *             bound      its malloc or free is bound to another function: it was loaded with
 *                        RTLD_DEEPBIND, or brings an allocator
 *             libc_name  it calls __libc_malloc or a relative, which the tracer does not replace
 *             other_name it calls a function that the allocator has beside malloc (mallocx)
 *             namespace  the program has loaded modules by dlmopen; the path is ?
 *
 *         The path is the rest of the line.
 * kinds   Only in a dump that tells lost from reachable memory (wrap/reach/reach.h).  The bytes
 *         and blocks of each kind: definite, indirect, possible and reachable.  pause_ns: how long
 *         other threads were stopped.  scan_ns: how long the scan took.  scanned=copy if a copy of
 *         the process was scanned, scanned=in_place if not.  heap=known if memory of the heap
 *         outside of live blocks keeps no block reachable, heap=part if it does
 *         (wrap/reach/heap_known.h).
 *         running_threads: threads that could not be stopped; if there are any, lost blocks count
 *         as possible.
 * site    Rank, live bytes, live blocks ("1 block" if there is one block), and complete, truncated
 *         or guessed.  The call site with the most live bytes comes first.  Under an RTOS
 *         " task=NAME" follows if the task that allocated has a name.  Equal backtraces in two
 *         tasks are two call sites.  " origin=system_library" follows if the C or C++ library or
 *         the loader made the allocation for itself and not for its caller.  " origin=library
 *         module=M" follows if the code of another shared library made the allocation: module M.
 *         Otherwise the program's own code did.
 *         In a dump with kinds, definite=BYTES/BLOCKS and so on follow for each kind that the call
 *         site has.  indirect: what its definitely lost blocks lead to, at any call site.  within:
 *         its own blocks that are indirectly lost.
 *         In a dump of a sample " sampled=N error=N" follow, as in the line sampling.  If what was
 *         allocated is counted, " allocated_bytes=N allocated_blocks=N temporary_blocks=N"
 *         follow; with the option peak=1 " peak_bytes=N peak_blocks=N"; after a mark
 *         " since_mark_bytes=N since_mark_blocks=N".  Call sites that have allocated or were in the
 *         peak, but hold no block, come last, with 0 bytes in 0 blocks.
 * #K      Frame K, innermost first.  The parts of the line are:
 *
 *             the raw return address
 *             FUNCTION+OFFSET from the running program's own symbol tables (mangled), or ?
 *             [M], the module's number
 *             NAME+OFFSET: the last component of the module's path, and the address less the
 *             module's load bias
 *
 *         "[M] NAME+OFFSET" is missing if the address is in no known module.  " exact=1" follows if
 *         the address is no return address: there is no call before it.  Then it is an instruction
 *         that a signal interrupted, or the code to which the signal handler returns.
 * memory  Only with the option blocks=1, which lists all live blocks, so that lost memory can be
 *         found in a core file of the same moment.  heap is as in the line kinds.
 *         allocator=glibc if the program has glibc's C library.  records=jemalloc if the process
 *         has jemalloc, whose records of its blocks are no roots.  thread_pointer and thread_state
 *         are those of the thread that wrote the dump: its thread pointer, 0 if that is not known,
 *         and the tracer's state of the thread, which is no root.  stack_layout says where two
 *         things lie in the mapping of each thread's stack, in bytes below its end: the thread
 *         pointer, and two words with the mapping's start and size.  Then follows the size, with
 *         the guard, of most mappings.  Missing: the stacks of threads that have ended are roots.
 *         pointer_step is the option of that name: 1, 2 or 4 bytes.  Missing: pointers lie at
 *         whole words.  roots=listed, only without an operating system: no other memory is a root
 *         than that of the lines root, less that of the lines own, and the stacks.
 * own     Memory that is no root: the tracer's.  Without an operating system also the allocator's,
 *         if the program says where it is.
 * root    Memory that the program declared by leakwrap_root, or without an operating system in
 *         leakwrap_bare.
 * stack   Only without an operating system: the stack of a task, or of main.  What lies below sp is
 *         no root: it is of the past.  sp is missing if it is not known: the whole stack is a root.
 * blocks  Live blocks: the rank of the call site, address, and size.  The rank counts the call
 *         sites that the options top= and min_bytes= hide, too.  It is 0 if the call site is left
 *         out of the totals, and "ignored" for a block of leakwrap_ignore.
 * injected
 *         The number of allocations that the tracer has made fail, by the option fail= or
 *         leakwrap_fail_next, since the process started or was forked.  Failures for want of memory
 *         are not among them.  The first failures follow.
 * failed  Its rank; which allocation at its call site it was, from 1 (0: not counted); the bytes
 *         that were asked for, 0 if that is not known; and the identity of the call site, see
 *         below.  The frames that follow are those of the call site.
 * reached Only with fail=list: a call site that the program has allocated from, with frames.
 *
 *             leakwrap[4711.1] reached 1: hits=3 bytes=40 identity=0x8d1c67f2a3b4c5d6
 *
 *         Its rank, the number of allocations, the bytes of the largest, and the identity.
 *         " origin=system_library" may follow, as in the line of a call site.
 * module  Number, first address, address behind the last, load bias, build-id (hexadecimal, or
 *         none), and the path as the rest of the line.  All modules that a frame names come before
 *         the end line.
 * end     The number of call sites shown, the number of lines including this line, and the time
 *         that the dump took up to this line, in nanoseconds.
 *
 * In paths and names every byte outside 0x21..0x7e, and the backslash, is written \xHH.  A name
 * that would make its line longer than allowed ends in \... instead.
 *
 * A reader skips key=value pairs and lines that it does not know.  Later releases may add some
 * without a new version number.
 */
#ifndef LEAKWRAP_FORMAT_H
#define LEAKWRAP_FORMAT_H

#define LEAKWRAP_FORMAT_VERSION 1

/* POSIX guarantees whole writes to a pipe up to PIPE_BUF, which is 4096 on Linux (pipe(7)). */
#define LEAKWRAP_LINE_MAX    4096

#define LEAKWRAP_LINE_PREFIX "leakwrap["

#endif
