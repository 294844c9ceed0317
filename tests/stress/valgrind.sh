#!/bin/sh
# valgrind finds no error in traced programs, and their dumps say the same as without it.
#
# They also end as they do without it. A walk reads only words of a stack that were written, and
# only zeroed words of the tables.
#
# The programs of these tests are left out:
#   seccomp             its filter forbids what valgrind needs
#   secure_execution    valgrind runs no program with raised privileges
#   during_malloc, left_by_longjmp, own_malloc, tracer_never_mallocs, address_reuse, failing
#                       have an allocator of their own, which valgrind replaces
#   transparent, every, stress
#                       call pvalloc, which valgrind's allocator lacks, or print what depends on the
#                       allocator
#   crash_trace, interrupted_instruction, small_footprint
#                       do on purpose what valgrind reports: die, or read below the stack
#   misuse.c double, realloc, interior, ...
#                       misuse their heap on purpose
#   memory_bound, memory_follows_heap, busy_threads, storm, fork, shared_with_program fork,
#   log_file processes
#                       take minutes: valgrind runs one thread at a time and forks slowly
#   stated_cost         measures itself
#   idle_process, request_during_dump, where_it_goes, exec, unseen_frees, reloaded_plugin,
#   early_handler
#                       need what their scripts do around them
#   assembly, unwind_options, stacks_through_musl, shared_user, lto, own_malloc_user
#                       consist of parts, which makes no difference to valgrind
#   archives, relinked, stacks, mixed_arm_code
#                       compare millions of walks, or walk garbage
#   cfi, code, exidx, against_readelf
#                       are not traced: they read tables
# timeout: 240
. tests/lib.sh

command -v valgrind >"$W/which" || skip "no valgrind"

# The tracer asks the kernel whether it can read memory, by a call that fails otherwise. It compares
# a stack with earlier stacks at the places where these had return addresses; another stack may have
# words there that nobody has set.
cat >"$W/suppressions" <<'END'
{
   asked on purpose
   Memcheck:Param
   rt_sigprocmask(set)
   fun:leakwrap_call_kernel
   ...
   fun:leakwrap_readable
}
{
   places of earlier stacks, values
   Memcheck:Value8
   ...
   fun:find_and_count*
}
{
   places of earlier stacks, conditions
   Memcheck:Cond
   ...
   fun:find_and_count*
}
{
   places of earlier stacks on the fast path, values
   Memcheck:Value8
   ...
   fun:leakwrap_stack_cache_probe_first
}
{
   places of earlier stacks on the fast path, conditions
   Memcheck:Cond
   ...
   fun:leakwrap_stack_cache_probe_first
}
END

# sites LOG: prints the call sites of the last dump, without the C library's frames, because
# valgrind's preloaded library changes these.
sites() {
	dump_sites "$1" "$(dumps "$1" | tail -n 1)" | cut -d';' -f1-2 | sort
}

# build_for_valgrind NAME SOURCE: builds a test program. Valgrind 3.19 reads line numbers and
# inlined functions of .text alone. The suppressions name inlined functions of the tracer, so the
# tracer's section gets that name.
build_for_valgrind() {
	# shellcheck disable=SC2086 # one or none
	build "$1" "$2" -Wno-error $strip
	objcopy --rename-section .text=.text_of_program \
		--rename-section leakwrap_own_code=.text "$W/$1"
}

# check SOURCE [ARGUMENT...]: compares the program with and without valgrind. OPTIONS are more
# options for the tracer. A search for lost memory reads all memory, which valgrind reports.
check() {
	source=$1
	shift
	name=$(basename "$source" .c)
	[ -x "$W/$name" ] || build_for_valgrind "$name" "tests/$source"
	rm -f "$W"/dumps*
	LEAKWRAP_OPTIONS=${OPTIONS-}kinds=never:log="$W/dumps" "$W/$name" "$@" >"$W/out" 2>&1
	status=$?
	LEAKWRAP_OPTIONS=${OPTIONS-}kinds=never:log="$W/dumps.valgrind" \
		valgrind -q --error-exitcode=99 \
		--soname-synonyms=somalloc=nouserintercepts \
		--leak-check=no --log-file="$W/errors" \
		--suppressions="$W/suppressions" "$W/$name" "$@" >"$W/out.valgrind" 2>&1
	status_here=$?
	# valgrind does not know the tracer's way to ask whether memory can be read.
	grep -v "sigprocmask: unknown 'how'" "$W/errors" >"$W/found"
	[ ! -s "$W/found" ] || fail "$name $*: $(head -n 30 "$W/found")"
	equal "$name $*: status" $status_here $status
	[ -n "$(dumps "$W/dumps")" ] || fail "$name $*: no dump"
	equal "$name $*: dumps" "$(dumps "$W/dumps.valgrind" | wc -l)" "$(dumps "$W/dumps" | wc -l)"
	sites "$W/dumps" >"$W/wanted"
	sites "$W/dumps.valgrind" >"$W/got"
	diff "$W/wanted" "$W/got" || fail "$name $*: the dump differs under valgrind"
	checked=$((checked + 1))
}

# Valgrind may not understand clang's debug information. With gcc's it names inlined functions.
case $($CC --version) in
*clang*) strip=-Wl,--strip-debug ;;
*) strip= ;;
esac
checked=0
while read -r source arguments; do
	# shellcheck disable=SC2086 # a list
	check "$source" $arguments </dev/null
done <<'END'
link/allocators.c
link/leaks.c
signal/pending_cancel.c
process/exit_dump_once.c fork-malloc-_exit
process/exit_dump_once.c pthread_exit
unwind/frame_pointers.c
signal/own_handlers.c sigaction
signal/own_handlers.c sigwait
dump/log_file.c children
dump/log_file.c many
alloc/nested_wrappers.c
dump/options.c USR1
signal/shared_with_program.c siginfo
signal/shared_with_program.c vfork
limits/sparse_tables.c
tool/leaky.c
unwind/backtrace.c
unwind/instrument.c
END
check alloc/public_api.c "$W/api.dump"
OPTIONS=misuse=report:
check alloc/misuse.c churn
check alloc/misuse.c strings
echo "$checked runs"
