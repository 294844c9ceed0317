#!/bin/sh
# misuse= reports each certain misuse of the heap with its stacks, and nothing else.
#
# It reports a double free, a pointer into a block or into the stack, a release by a function of
# another kind, and a resize of a freed block.
# timeout: 240
. tests/lib.sh

unset DEBUGINFOD_URLS
$CC -O2 -shared -fPIC -o "$W/libelsewhere.so" tests/alloc/unseen_frees_library.c ||
	fail "cannot build the library"

# run PROGRAM CASE MODE: runs the case, with the further options $more. Sets $status to the
# program's status, and $report to the reports in one line: "WHAT in FUNCTION: frames; before
# frames; BYTES bytes frames."
run() {
	LEAKWRAP_OPTIONS="misuse=$3:exit=0$more" "$W/$1" "$2" >"$W/out" 2>"$W/err"
	status=$?
	report=$(sed -n 's/^leakwrap\[[0-9.]*\] //p' "$W/err" | awk '
		function function_named() { return substr($0, index($0, "function=") + 9) }
		/^misuse block / {
			line = line "; " substr($4, 7) " bytes"
			if (/ function=/)
				line = line " by " function_named()
			next
		}
		/^misuse released/ { line = line "; before"; next }
		/^misuse / { line = line $2 " in " function_named() ":"; next }
		/^  #[01] / { sub(/\+.*/, "", $3); line = line " " $3; next }
		/^end / { line = line "." }
		END { print line }')
}

# expect PROGRAM CASE REPORT...: runs the case, whose report must be the REPORTs with spaces
# between. By default, without misuse=, there must be no report.
expect() {
	program=$1 tested=$2
	shift 2
	run "$program" "$tested" report
	equal "$program $tested" "$report" "$*"
	[ -n "$*" ] || return 0
	LEAKWRAP_OPTIONS=exit=0 "$W/$program" "$tested" >"$W/default" 2>&1
	equal "$program $tested by default" "$(grep -c misuse "$W/default")" 0
}

# compile_cxx NAME FLAGS FLAG-OR-SOURCE...: builds $W/NAME, traced, from the sources and misuse.cpp,
# which is compiled with FLAGS.
compile_cxx() {
	name=$1 compiled_with=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # lists of flags
	compile_once $CXX -std=c++17 -O2 -Wall -I. $compiled_with tests/alloc/misuse.cpp
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$CXX -std=c++17 -O2 -Wall $compiled_with -o "$W/$name" "$object" "$@" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS "$libraries") || fail "cannot build $name"
}
whole_calls="-Wno-free-nonheap-object -fno-builtin -fno-optimize-sibling-calls"

more=
quiet="churn pool failed ignored strings library static_pool given_stack unguarded coroutine"
quiet="$quiet handler handed gaps"

for cc in gcc clang; do
	CC=$cc CFLAGS_FOR_TESTS=${CFLAGS_FOR_TESTS%-fno-ipa-icf} # clang has no such flag
	build $cc.dynamic -DWITH_LIBRARY -Wno-error tests/alloc/misuse.c \
		-L"$W" -lelsewhere -Wl,-rpath,"$W"
	build_program_only $cc.program -DWITH_LIBRARY -Wno-error tests/alloc/misuse.c \
		-L"$W" -lelsewhere -Wl,-rpath,"$W"
	build $cc.static -static tests/alloc/misuse.c

	# Without the calls of shared libraries, no freed block is known to be free.
	for case in double realloc moved interior large; do
		expect $cc.program $case ""
	done
	for linked in dynamic static; do
		expect $cc.$linked stack "stack_pointer in free: drop_again case_stack."
		expect $cc.$linked thread "stack_pointer in free: drop_again case_stack."
		expect $cc.$linked gone "stack_pointer in free: drop_again case_gone."
		expect $cc.$linked gone_thread "stack_pointer in free: drop_again case_gone."
		for case in literal table data zeros stream; do
			expect $cc.$linked $case "static_pointer in free: drop_again case_$case."
		done
		expect $cc.$linked static_realloc \
			"static_pointer in realloc: resize_again case_static_realloc."
		expect $cc.$linked unaligned \
			"interior_pointer in free: drop_again case_unaligned;" \
			"100 bytes make case_unaligned."
		for case in $quiet; do
			expect $cc.$linked "$case" ""
			equal "$cc.$linked $case: status" $status 0
		done
	done
	x=$cc.dynamic
	expect $x double "double_free in free: drop_again case_double;" \
		"before drop_first case_double; 40 bytes make case_double."
	expect $x realloc "double_free in realloc: resize_again case_realloc;" \
		"before drop_first case_realloc; 40 bytes make case_realloc."
	expect $x moved "double_free in free: drop_again case_moved;" \
		"before case_moved main; 40 bytes make case_moved."
	expect $x interior "interior_pointer in free: drop_again case_interior;" \
		"100 bytes make case_interior."
	x=$cc.static
	more=:unwind=fp
	expect $x double "double_free in free: drop_again case_double;" \
		"before drop_first case_double; 40 bytes make case_double."
	more=
	expect $x double "double_free in free: drop_again case_double;" \
		"before drop_first case_double; 40 bytes make case_double."
	expect $x realloc "double_free in realloc: resize_again case_realloc;" \
		"before drop_first case_realloc; 40 bytes make case_realloc."
	expect $x moved "double_free in free: drop_again case_moved;" \
		"before case_moved main; 40 bytes make case_moved."
	expect $x interior "interior_pointer in free: drop_again case_interior;" \
		"100 bytes make case_interior."
	expect $x large "interior_pointer in free: drop_again case_large;" \
		"10000000 bytes make case_large."
	# The table of freed blocks has 16,384 places. One of the 200 later frees may have taken the
	# place of this block.
	late="double_free in free: drop_again case_late;"
	late="$late before drop_first case_late; 40 bytes make case_late."
	known=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		run $x late report
		[ "$report" != "$late" ] || known=$((known + 1))
	done
	[ $known -ge 7 ] || fail "$x late: known in $known of 10 runs"
	run $x double abort
	equal "$x double, abort: status" $status 134
	case $report in "double_free "*) ;; *) fail "$x double, abort: no report" ;; esac

	CXX=$(cxx_of "$cc")
	for linked in dynamic program static own; do
		flags=
		libraries=LEAKWRAP_CXX_LDLIBS
		case $linked in
		dynamic) ;;
		program) libraries=LEAKWRAP_PROGRAM_CXX_LDLIBS ;;
		*) flags=-static ;;
		esac
		[ $linked != own ] || flags="$flags tests/alloc/misuse_own.cpp"
		# shellcheck disable=SC2086 # lists of flags
		compile_cxx $cc.cxx.$linked "$whole_calls" $flags
		expect $cc.cxx.$linked proper ""
		equal "$cc.cxx.$linked proper: status" $status 0
		# shellcheck disable=SC2086 # a list of flags
		compile_cxx $cc.short.$linked -w $flags
		for case in local large-local; do
			run $cc.short.$linked $case report
			case $report in
			"stack_pointer in operator delete[]: "*main*) ;;
			*) fail "$cc.short.$linked $case: $report" ;;
			esac
		done
	done
	for linked in dynamic static; do
		expect $cc.cxx.$linked static \
			"static_pointer in operator delete: _ZL9to_deletePv main."
		expect $cc.cxx.$linked literal \
			"static_pointer in operator delete[]: _ZL8to_arrayPv main."
	done
	libraries=LEAKWRAP_CXX_LDLIBS
	# The program's own operators may keep their blocks in static memory.
	for linked in arena arena-static; do
		flags=
		[ $linked = arena ] || flags=-static
		# shellcheck disable=SC2086 # lists of flags
		compile_cxx $cc.cxx.$linked "$whole_calls" tests/alloc/misuse_arena.cpp $flags
		for case in proper new-deleted; do
			expect $cc.cxx.$linked $case ""
			equal "$cc.cxx.$linked $case: status" $status 0
		done
		expect $cc.cxx.$linked static ""
	done
	# leakwrap does not compare kinds if the calls of shared libraries are not seen, nor if the
	# program has operators of its own.
	for case in new-free new-array array-delete array-free malloc-delete malloc-array \
		new-realloc; do
		expect $cc.cxx.program $case ""
		expect $cc.cxx.own $case ""
	done
	x=$cc.cxx.static
	while IFS='|' read -r case function maker by kind; do
		for x in $cc.cxx.dynamic $cc.cxx.static; do
			expect "$x" "$case" \
				"mismatch in $function: $by main; 40 bytes by $kind $maker main."
		done
	done <<-END
		new-free|free|_ZL6by_newm|_ZL7to_freePv|operator new
		new-array|operator delete[]|_ZL6by_newm|_ZL8to_arrayPv|operator new
		array-delete|operator delete|_ZL8by_arraym|_ZL9to_deletePv|operator new[]
		array-free|free|_ZL8by_arraym|_ZL7to_freePv|operator new[]
		malloc-delete|operator delete|_ZL9by_mallocm|_ZL9to_deletePv|malloc
		malloc-array|operator delete[]|_ZL9by_mallocm|_ZL8to_arrayPv|malloc
	END
	expect "$x" delete-twice "double_free in operator delete: _ZL9to_deletePv main;" \
		"before _ZL9to_deletePv main; 40 bytes _ZL6by_newm main."
	run $x new-realloc report
	case $report in
	"mismatch in realloc: main"*"operator new _ZL6by_newm main.") ;;
	*) fail "$x new-realloc: $report" ;;
	esac
done

# A program that wraps malloc itself keeps its wrapper. The tracer does not see what this wrapper
# allocates. The same addresses come back.
cat >"$W/own_wrap.c" <<-'END'
	#include <stdlib.h>
	void *__real_malloc(size_t size);
	void *__wrap_malloc(size_t size);
	void *__wrap_malloc(size_t size)
	{
		return __real_malloc(size);
	}
	int main(void)
	{
		for (int i = 0; i < 2; i++) {
			free(calloc(1, 100));
			free(malloc(100));
		}
		return 0;
	}
END
CC=gcc
build own_wrap -static "$W/own_wrap.c"
run own_wrap "" abort
equal "own_wrap" "$status $report" "0 "

# The program's own allocator may have its blocks in static memory, even if a library allocates them
# unseen.
cat >"$W/arena.c" <<-'END'
	#include "tests/alloc/unseen_frees.h"
	#include <stdint.h>
	#include <stdlib.h>
	int main(int argc, char **argv)
	{
		void *volatile block = library_makes(100);

		(void)argv;
		free(block); /* before the program itself has allocated anything */
		block = library_makes(100);
		block = realloc(block, 200);
		free(block);
		block = (void *)(uintptr_t) "literal";
		if (argc > 1)
			free(block);
		return 0;
	}
END
build arena "$W/arena.c" tests/alloc/misuse_arena.c -L"$W" -lelsewhere -Wl,-rpath,"$W"
build arena-static -static "$W/arena.c" tests/alloc/misuse_arena.c \
	tests/alloc/unseen_frees_library.c
for linked in arena arena-static; do
	LEAKWRAP_OPTIONS=misuse=abort:exit=0 "$W/$linked" 2>"$W/err" ||
		fail "$linked: status $?: $(cat "$W/err")"
	equal "$linked" "$(cat "$W/err")" ""
	# Memory that is not writable is no allocator's arena.
	run $linked literal report
	case $report in
	"static_pointer in free: main "*) ;;
	*) fail "$linked, literal: $report" ;;
	esac
done
