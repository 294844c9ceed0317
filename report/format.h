/* format.h - the text format of a dump, version 1: the only thing that the runtime, which writes it,
 * and the leakwrap tool, which reads it, have in common.
 *
 * A dump is a sequence of lines between other programs' lines.  Every line starts with
 * "leakwrap[PID.N] ", N being the number of the dump in its process, from 1.  Lines end in LF, hold at
 * most LEAKWRAP_LINE_MAX bytes with it, and are written whole, several to a write, which has at most PIPE_BUF
 * bytes unless it goes to a regular file: lines of several processes may alternate but do not mix.
 * Numbers are decimal; addresses and offsets are hexadecimal behind 0x.  The order is fixed:
 *
 *   leakwrap[4711.1] dump version=1 reason=signal time=2026-11-20T18:36:07Z program=/opt/app/server
 *   leakwrap[4711.1] command /opt/app/server --port 8080 --name a\x20server
 *   leakwrap[4711.1] crash signal=11 code=1 fault_address=0x0 thread=4712      only when the reason is crash
 *   leakwrap[4711.1] registers rip=0x55d0c8a01230 rsp=0x7ffd2f10 ...            any number
 *   leakwrap[4711.1]   #0 0x55d0c8a01230 load_config+0x20 [1] server+0x1230
 *   leakwrap[4711.1] total live_bytes=1203344 live_blocks=10432 call_sites=57
 *   leakwrap[4711.1] stacks complete_stack_bytes_percent=99.98 truncated_blocks=3 guessed_blocks=0
 *   leakwrap[4711.1] loss untracked_blocks=0 untracked_bytes=0 lost_call_sites=0 freed_elsewhere_blocks=0 foreign_frees=12
 *   leakwrap[4711.1] tracer tracer_bytes=1310720
 *   leakwrap[4711.1] note TEXT                       any number; something a person should know
 *   leakwrap[4711.1] site 1: 819200 bytes in 25 blocks, complete
 *   leakwrap[4711.1]   #0 0x55d0c8a01234 load_config+0x24 [1] server+0x1234
 *   leakwrap[4711.1]   #1 0x55d0c8a01301 main+0x41 [1] server+0x1301
 *   leakwrap[4711.1]   #2 0x7f20cb45224a ? [2] libc.so.6+0x2724a
 *   leakwrap[4711.1] module 1 0x55d0c8a00000-0x55d0c8a08000 bias=0x55d0c8a00000 build_id=0a1b2c... path=/opt/app/server
 *   leakwrap[4711.1] end sites=57 lines=240 dump_ns=812345
 *
 * dump    reason is exit, signal, api, crash or misuse; time is UTC, RFC 3339; program is the rest of the line.
 * command the command line that started the program, if it is known and the option command= is 1:
 *         its words, with a space in front of each.  An empty word is written as a single backslash.
 *         No more than 960 bytes are kept; where there were more, the last word ends in \...
 * crash   the signal's number, si_code and, when the signal has one, si_addr (sigaction(2)), and the thread's
 *         id; registers are named as in the ABI.  The frames that follow are those of the thread; #0 is the
 *         interrupted instruction itself, not a return address.  Without an operating system
 *         "exception=NAME" comes first, the processor's name for it: signal and code are those that Linux
 *         would send, and the thread is the number of the task.
 * misuse  only in a dump with that reason, which has neither totals nor call sites:
 *
 *             leakwrap[4711.1] misuse double_free pointer=0x55d0c9a012a0 thread=4712 function=free
 *             leakwrap[4711.1]   #0 0x4015b7 close_session+0x37 [1] server+0x15b7
 *             leakwrap[4711.1] misuse released
 *             leakwrap[4711.1]   #0 0x401612 on_timeout+0x22 [1] server+0x1612
 *             leakwrap[4711.1] misuse block address=0x55d0c9a012a0 bytes=40
 *             leakwrap[4711.1]   #0 0x401402 open_session+0x12 [1] server+0x1402
 *
 *         First, what was released wrongly, by the function that is the rest of the line: double_free of a block
 *         that was released before, an interior_pointer into a block, a stack_pointer, a
 *         static_pointer into the memory of a module, or a mismatch with the function that
 *         allocated the block.
 *         With "released" the release before, of a double free; with "block"
 *         the block that is meant, when there is one: where it begins, its size, of a mismatch the
 *         function that allocated it, as the rest of the line.  The frames are those of the wrong release,
 *         of the one before, and of the allocation.
 * total   all live blocks, also those of call sites that the options top= and min_bytes= do not show.
 *         In a forked child whose exit dump is to show its own blocks (children=own) three keys
 *         follow: inherited_bytes and inherited_blocks, the live blocks from before the fork; and
 *         inherited=included or left_out: whether these are among what the dump tells of, or not.
 * stacks  the share of live bytes whose stacks are complete; "none" when there are no live bytes.
 * loss    what the numbers above miss; each key counts since the process started (or was forked):
 *         untracked_*            allocations for which there was no memory to record them
 *         lost_call_sites        backtraces for which there was no memory; their blocks stand at a call
 *                                site without frames
 *         freed_elsewhere_blocks blocks whose address came back although no free had been seen
 *         foreign_frees          frees of blocks that were never recorded
 *         left_out_*             live blocks and bytes of the system's libraries, which the option
 *                                system=0 leaves out of everything else; only with this option
 * tracer  the memory that the tracer holds for itself.
 * site    rank, live bytes, live blocks ("1 block" when there is one), and complete, truncated or guessed.
 *         Largest first.  Under an RTOS " task=NAME" follows, when the task that allocated has a
 *         name: the same backtrace in two tasks is two call sites.  " origin=system_library"
 *         follows when a C or C++ library, which the program was linked with statically, made the
 *         allocation for itself, and not for its caller.
 * #K      frame K, innermost first: the raw return address; FUNCTION+OFFSET as the running program's own
 *         symbol tables have it (mangled), or ?; [M] the module's number; the last component of its
 *         path, + and the address less the module's load bias.  "[M] NAME+OFFSET" is missing when the
 *         address lies in no known module.  " exact=1" follows when the address is no return address, with the
 *         call before it, but an instruction that a signal interrupted, or the code to which the handler
 *         returns.
 * module  number, first address, address behind the last, load bias, build-id (hexadecimal, or none),
 *         path as the rest of the line.  All modules that a frame names, before the end line.
 * end     the number of call sites shown, of lines including this one, and how long the dump took
 *         in nanoseconds, up to this line.
 *
 * In paths and names every byte outside 0x21..0x7e, and the backslash, is written \xHH; a name that
 * would make its line longer than allowed ends in \... instead.  A reader skips key=value pairs and
 * lines that it does not know: later versions of the same number may add some.
 */
#ifndef LEAKWRAP_FORMAT_H
#define LEAKWRAP_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAKWRAP_FORMAT_VERSION 1

/* POSIX guarantees whole writes to a pipe up to PIPE_BUF, which is 4096 on Linux (pipe(7)). */
#define LEAKWRAP_LINE_MAX    4096

#define LEAKWRAP_LINE_PREFIX "leakwrap["

/* What `leakwrap dump` sends with the dump signal, as the integer of sigqueue(3): the request of a
 * person, which the program's own handler is not to see. */
#define LEAKWRAP_REQUEST 0x6b77656c

/* An ELF note in every program or library that holds the tracer, stripped or not: its section, the
 * name of its owner, and its type.  Its description is two 32-bit words: LEAKWRAP_FORMAT_VERSION;
 * and how far the announcement lies behind the second word itself, a signed number.  Without an
 * operating system it is 0: there is none. */
#define LEAKWRAP_NOTE_SECTION ".note.leakwrap"
#define LEAKWRAP_NOTE_OWNER   "leakwrap"
#define LEAKWRAP_NOTE_TYPE    1

/* A section that is not loaded: lists of the functions of the static libraries that come with the
 * compiler (system_functions.sh).  Each list is 32-bit words in the target's byte order: its kind,
 * its number of functions, and for each function the hash of its name in the symbol table and its
 * size, in ascending order.  A list for C is meant for static programs alone, a list for C++ for
 * all programs. */
#define LEAKWRAP_SYSTEM_SECTION ".leakwrap.system"
enum leakwrap_system_list {
	LEAKWRAP_SYSTEM_C = 1,
	LEAKWRAP_SYSTEM_CXX,
	LEAKWRAP_SYSTEM_C_FOR_CALLER,
	LEAKWRAP_SYSTEM_CXX_FOR_CALLER,
};

/* Whose memory a function allocates. */
enum leakwrap_system_role {
	LEAKWRAP_ROLE_PROGRAM,    /* the program's: the function is in no list */
	LEAKWRAP_ROLE_KEEPS,      /* the library's own: stdio's buffer, a locale */
	LEAKWRAP_ROLE_FOR_CALLER, /* the caller's: fopen, regcomp, a growing std::string */
};

/* The hash of a function's NAME.  The modulus is the largest prime below 2^32. */
static inline uint32_t leakwrap_hash_name(const char *name)
{
	uint64_t hash = 0;

	for (; *name != '\0'; name++)
		hash = (hash * 65599 + (unsigned char)*name) % 4294967291U;
	return (uint32_t)hash;
}

/* Returns whether one of the COUNT functions at LIST, pairs of hash and size, has the hash HASH and
 * a size from LEAST to MOST. */
static inline bool leakwrap_system_list_has(const uint32_t *list, size_t count, uint32_t hash,
                                            uint64_t least, uint64_t most)
{
	size_t first = 0, behind = count;

	while (first < behind) {
		size_t middle = first + (behind - first) / 2;

		if (list[2 * middle] < hash)
			first = middle + 1;
		else
			behind = middle;
	}
	for (; first < count && list[2 * first] == hash; first++)
		if (list[2 * first + 1] >= least && list[2 * first + 1] <= most)
			return true;
	return false;
}

/* Returns the role of the function NAME of SIZE bytes by the WORDS words at LISTS, which are in this
 * machine's byte order.  IS_STATIC: the program needs no dynamic loader.  IS_RELAXED: the linker
 * shortens functions, as those of RISC-V and LoongArch do. */
static inline enum leakwrap_system_role leakwrap_system_role(const uint32_t *lists, size_t words,
                                                             const char *name, uint64_t size,
                                                             bool is_static, bool is_relaxed)
{
	const uint32_t hash = leakwrap_hash_name(name);
	enum leakwrap_system_role role = LEAKWRAP_ROLE_PROGRAM;

	while (words >= 2 && lists[1] <= (words - 2) / 2) {
		const size_t count = lists[1];
		const bool is_c =
		        lists[0] == LEAKWRAP_SYSTEM_C || lists[0] == LEAKWRAP_SYSTEM_C_FOR_CALLER;
		const bool has =
		        (is_static || !is_c) && leakwrap_system_list_has(lists + 2, count, hash, size,
		                                                         is_relaxed ? 2 * size : size);

		if (has && lists[0] >= LEAKWRAP_SYSTEM_C_FOR_CALLER)
			return LEAKWRAP_ROLE_FOR_CALLER;
		if (has)
			role = LEAKWRAP_ROLE_KEEPS;
		lists += 2 + 2 * count;
		words -= 2 + 2 * count;
	}
	return role;
}

/* What a traced process says of itself in its memory.  The tracer writes it at start, and PROCESS
 * again after a fork. Later versions only add members, behind LOG. */
#define LEAKWRAP_ANNOUNCEMENT_VERSION 1

struct leakwrap_announcement {
	uint32_t version; /* 0: the tracer has not started, and nothing else is known */
	uint32_t size;    /* of all of it, in bytes */
	int32_t process; /* who says so, as it sees its number.  A child of vfork shows its parent's words. */
	int32_t signal; /* that asks for a dump; 0: none */
	char log[1280]; /* "stderr", or a path with %p, %n and %%, as in the option log=; "": too long */
};

#endif
