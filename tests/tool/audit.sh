#!/bin/sh
# leakwrap audit finds planted escapes in the output of each linker, and none in correct programs.
# timeout: 300
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

cat >"$W/planted.c" <<'END'
#include <stdlib.h>
#include <string.h>
extern void *second_name(size_t) __asm__("__libc_malloc");
void *volatile kept;
__attribute__((noinline)) void by_second_name(void) { kept = second_name(10); }
__attribute__((noinline)) void by_calloc(void) { kept = calloc(3, 4); }
__attribute__((noinline)) void wrapped(void) { kept = malloc(3); }
__attribute__((noinline)) void *by_jump(size_t size) { return realloc(kept, size); }
#ifdef __aarch64__ /* a register gets another page in front of the load: no use of calloc */
__asm__(".pushsection .text\n.type reuses,%function\nreuses: adrp x0, :got:calloc\n"
        "adrp x0, main\nldr x0, [x0, :got_lo12:calloc]\nret\n.size reuses, . - reuses\n"
        ".popsection");
#endif
int main(void) { by_second_name(); by_calloc(); wrapped(); return by_jump(9) == NULL; }
END

for linker in bfd gold lld mold; do
	[ $linker = lld ] && more=LEAKWRAP_LLD_LDFLAGS || more=
	without=
	[ $linker != lld ] || without=$(sed -n '/_calloc"/d
		s/.*globl \(__wrap_[A-Za-z0-9_]*\).*/-Wl,-u,\1/p' "$O/every_c.c")
	# With -E lld gives a static program dynamic symbols, which nobody reads. With -q the
	# relocations of the objects stay, which nobody applies.
	for static in "" -Wl,-q -static "-static -Wl,-E" "-static -Wl,-q"; do
		# shellcheck disable=SC2046,SC2086 # flags
		$CC -O1 -fuse-ld=$linker $static -ffunction-sections -Wl,--gc-sections \
			-o "$W/clean" tests/tool/leaky.c $(leakwrap_flags LEAKWRAP_LDFLAGS \
				$more LEAKWRAP_LDLIBS) >"$W/ld" 2>&1 || {
			echo "left out: $linker $static: $(head -n 1 "$W/ld")"
			continue
		}
		status_is 0 "$lw" audit --strict "$W/clean"
		# The tracer's note survives the linker's garbage collection, and strip.
		strip "$W/clean"
		status_is 1 "$lw" audit --strict "$W/clean"
		shows 'clean: escapes not searched for, 1 of quality'
		# shellcheck disable=SC2046,SC2086 # flags
		$CC -O1 -fuse-ld=$linker $static -o "$W/planted" "$W/planted.c" \
			$without $(leakwrap_flags LEAKWRAP_LDFLAGS \
				LEAKWRAP_PROGRAM_LDLIBS |
				sed 's/-Wl,--wrap=calloc //; s/-Wl,-u,__wrap_calloc//g') ||
			fail "$linker $static"
		status_is 1 "$lw" audit --strict "$W/planted"
		shows '^escape: 1 direct call of calloc, in by_calloc$'
		shows 'mend: -Wl,--wrap=calloc$'
		# In a static program the second name has the same address.
		shows '^escape: 1 direct call of \(__libc_\)*malloc, in by_second_name$'
		shows_not 'wrapped$'
		status_is 0 "$lw" audit "$W/planted"
	done
done

# A reference was resolved before the link, because the file defines the function itself.
cat >"$W/own.c" <<'END'
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);
	return copy ? memcpy(copy, text, size) : NULL;
}
char *volatile kept;
int main(int argc, char **argv) { kept = strdup(argv[argc - 1]); return 0; }
END
for flags in "" -flto "-static -Wl,-z,muldefs"; do
	# shellcheck disable=SC2046,SC2086 # flags
	$CC -O1 -fno-builtin $flags -o "$W/own" "$W/own.c" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) \
		2>"$W/ld" || fail "own strdup: $(cat "$W/ld")"
	# The tracer sees the call of malloc in it.
	status_is 0 "$lw" audit --strict "$W/own"
	shows '^note: 1 direct call of strdup, in main'
	sed 's/malloc(size)/memory/; 1a static char memory[99];' "$W/own.c" >"$W/pool.c"
	# shellcheck disable=SC2046,SC2086 # flags
	$CC -O1 -fno-builtin $flags -o "$W/own" "$W/pool.c" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) \
		2>"$W/ld" || fail "own strdup: $(cat "$W/ld")"
	status_is 1 "$lw" audit --strict "$W/own"
	shows '^escape: 1 direct call of strdup, in main'
done

# A program's own operators, and a function that is bound before the link, call malloc.
if command -v g++ >/dev/null; then
	cat >"$W/operators.cc" <<'END'
#include <cstdlib>
#include <new>
void *operator new(std::size_t size) { return std::malloc(size + 8); }
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, std::size_t) noexcept { std::free(block); }
int *volatile kept;
int main() { kept = new int(7); delete kept; return 0; }
END
	for static in "" -static; do
		"$lw" cc -- g++ -O0 $static -o "$W/operators" "$W/operators.cc" || fail operators
		status_is 0 "$lw" audit --strict "$W/operators"
		shows '^note: 1 direct call of _Znw., in main'
	done
fi
case $($CC -dumpmachine) in x86_64-*-gnu)
	cat >"$W/bound.c" <<'END'
#include <string.h>
__asm__(".symver strdup,strdup@GLIBC_2.2.5");
char *volatile kept;
int main(int argc, char **argv) { kept = strdup(argv[argc - 1]); return 0; }
END
	"$lw" cc -- "$CC" -fno-builtin -o "$W/bound" "$W/bound.c" || fail bound
	status_is 0 "$lw" audit --strict "$W/bound"
	shows '^note: 1 direct call of strdup, in main'
	"$lw" cc --program-only -- "$CC" -fno-builtin -o "$W/bound" "$W/bound.c" || fail bound
	status_is 1 "$lw" audit --strict "$W/bound"
	;;
esac

# The compiler may inline the program's own malloc.
cat >"$W/inlined.c" <<'END'
#include <stddef.h>
static char memory[4096];
static size_t used;
void *malloc(size_t size) { return memory + (used += (size + 15) & ~15ul) - size; }
void free(void *block) { (void)block; }
void *volatile kept;
int main(void) { kept = malloc(7); return 0; }
END
"$lw" cc -- "$CC" -O2 -o "$W/inlined" "$W/inlined.c" || fail inlined
"$lw" audit "$W/inlined" >"$W/out" || fail "audit inlined"
shows "^note: malloc is the program's own"

# In a static program, code behind the tracer's code belongs to the C library, or to an archive that
# was named late.
cat >"$W/late.c" <<'END'
#include <stdlib.h>
void late(void);
void *volatile late_kept;
void late(void) { late_kept = calloc(7, 1); }
END
echo 'void late(void); int main(void) { late(); return 0; }' >"$W/early.c"
$CC -O1 -c -o "$W/late.o" "$W/late.c" || fail late
ar rcs "$W/late.a" "$W/late.o" || fail late
# shellcheck disable=SC2046 # flags
$CC -O1 -static -o "$W/app" "$W/early.c" $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
	sed 's/-Wl,--wrap=calloc //; s/-Wl,-u,__wrap_calloc//g') "$W/late.a" || fail late
status_is 1 "$lw" audit --strict "$W/app"
shows '^escape: [0-9]* direct calls* of calloc, in .*late'

# If the C library is named before the runtime, its code is still not the program's.
# shellcheck disable=SC2046 # flags
$CC -O1 -static -o "$W/first" tests/tool/leaky.c -lc \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) || fail first
status_is 0 "$lw" audit --strict "$W/first"
# shellcheck disable=SC2046 # flags
$CC -O1 -static -o "$W/app" "$W/early.c" "$W/late.o" -lc \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
	sed 's/-Wl,--wrap=calloc //; s/-Wl,-u,__wrap_calloc//g') || fail first
status_is 1 "$lw" audit --strict "$W/app"
shows '^escape: 1 direct call of calloc, in late'

# Functions that are wrapped for another reason than memory are no escapes.
cat >"$W/sandbox.c" <<'END'
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
char *volatile kept;
int main(int argc, char **argv)
{
	kept = malloc(3);
	return prctl(PR_SET_NAME, "box") + (argc > 1 ? execv(argv[1], argv + 1) : 0);
}
END
# shellcheck disable=SC2046 # flags
$CC -O1 -static -o "$W/sandbox" "$W/sandbox.c" \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
	sed 's/-Wl,--wrap=\(execv\|prctl\) //g; s/-Wl,-u,__wrap_\(execv\|prctl\) //g') ||
	fail sandbox
status_is 0 "$lw" audit --strict "$W/sandbox"

# The tracer's own reference to malloc is no escape, wherever the program's calls of leakwrap.h have
# put it.
cat >"$W/asks.c" <<'END'
#include "leakwrap.h"
int main(void) { return leakwrap_dump(-1) < 0; }
END
build asks "$W/asks.c"
status_is 0 "$lw" audit --strict "$W/asks"

# A function that a program refers to only weakly is missing if the program is traced, and is there
# if it is not.
cat >"$W/weak.c" <<'END'
#include <stdlib.h>
extern void *reallocarray(void *, size_t, size_t) __attribute__((weak));
int main(void) { return reallocarray != NULL; }
END
build weak "$W/weak.c"
status_is 1 "$lw" audit --strict "$W/weak"
shows '^escape: the wrappers of reallocarray are missing$'
shows 'mend: -Wl,-u,__wrap_reallocarray'
build weak -Wl,-u,__wrap_reallocarray "$W/weak.c"
status_is 0 "$lw" audit --strict "$W/weak"

# A wrapper of the program's own is told once, with each linker.
cat >"$W/own.c" <<'END'
#include <stdlib.h>
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return __real_malloc(size + 1); }
void *volatile kept;
int main(void) { kept = malloc(7); return 0; }
END
for linker in bfd gold lld mold; do
	command -v "ld.$linker" >"$W/which" 2>&1 || continue
	"$lw" cc -- "$CC" -static -fuse-ld=$linker -Wl,--wrap=malloc -o "$W/own" "$W/own.c" ||
		fail "$linker: own wrapper"
	status_is 1 "$lw" audit --strict "$W/own"
	equal "$linker: own wrapper" "$(grep -c '^escape: __wrap_malloc is the prog' "$W/out")" 1
done

# The program has functions of its own with the names of the C library's.
cat >"$W/getline.c" <<'END'
int getline(char *line, int limit);
int getline(char *line, int limit) { return line[limit]; }
END
echo 'int getline(char *, int); int main(void) { return getline("", 0); }' >"$W/calls.c"
{ $CC -c -o "$W/getline.o" "$W/getline.c" && $CC -c -o "$W/calls.o" "$W/calls.c"; } || fail getline
build getline "$W/calls.o" "$W/getline.o"
status_is 0 "$lw" audit --strict "$W/getline"
shows "^note: getline is the program's own$"
shows 'mend: leave -Wl,--wrap=getline out$'

# The program's own code has no unwind tables, or the C library's code alone has none.
build leaky tests/tool/leaky.c
status_is 0 "$lw" audit --strict "$W/leaky"
shows_not 'unwind tables'
# The tracer's own functions do not count.
for number in $(seq 300); do
	echo "__attribute__((section(\"leakwrap_own_code\"))) void own_$number(void);"
	echo "void own_$number(void) {}"
done >"$W/own.c"
$CC -c -fno-unwind-tables -fno-asynchronous-unwind-tables -o "$W/own.o" "$W/own.c" || fail own
build with_own tests/tool/leaky.c "$W/own.o"
status_is 0 "$lw" audit --strict "$W/with_own"
shows_not 'unwind tables'
build untabled -fno-unwind-tables -fno-asynchronous-unwind-tables tests/tool/leaky.c
status_is 0 "$lw" audit --strict "$W/untabled"
shows '^note: .* functions have no unwind tables: main, '
shows 'mend: -funwind-tables, where you compile them yourself$'

# Some things make a report say less.
strip -o "$W/stripped" "$W/leaky"
status_is 1 "$lw" audit --strict "$W/stripped"
shows '^quality: the symbol table is stripped'
shows 'the dump names no functions, and this audit cannot tell which calls escape'
shows 'stripped: escapes not searched for, 1 of quality, 0 notes'
covers() {
	status_is 1 "$lw" audit --strict "$W/$1"
	shows '^quality: the symbol table is stripped'
	shows_not '^escape'
	shows "^coverage: the $2"
}
covers stripped 'whole process, libraries included'
strip -K main -o "$W/main_alone" "$W/leaky"
covers main_alone 'whole process, libraries included'
# shellcheck disable=SC2046 # flags
$CC -O1 -static -o "$W/bare" tests/tool/leaky.c \
	$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) \
	-Wl,--no-eh-frame-hdr,--build-id=none || fail bare
status_is 1 "$lw" audit --strict "$W/bare"
shows '^quality: there is no .eh_frame_hdr'
shows '^note: there is no build-id'
build_plain plain tests/tool/leaky.c
status_is 1 "$lw" audit --strict "$W/plain"
shows '^escape: nothing is wrapped'
strip "$W/plain"
status_is 1 "$lw" audit --strict "$W/plain"
shows '^escape: nothing is wrapped'

# A link that hides malloc from shared libraries leaves the program's own calls.
echo '{ global: main; local: *; };' >"$W/hide.map"
echo '{ main; };' >"$W/list"
for linker in bfd gold lld; do
	for hide in -Wl,--exclude-libs,ALL "-Wl,--version-script=$W/hide.map"; do
		# shellcheck disable=SC2046 # flags
		$CC -O1 -fuse-ld=$linker "$hide" -o "$W/hidden" tests/tool/leaky.c \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) >"$W/ld" 2>&1 || {
			echo "left out: $linker $hide: $(head -n 1 "$W/ld")"
			continue
		}
		status_is 0 "$lw" audit --strict "$W/hidden"
		shows "^note: the link hides the tracer's malloc"
		shows "^coverage: the program's own calls"
		"$W/hidden" 2>"$W/log"
		grep -q '\] coverage program$' "$W/log" || fail "$linker $hide: $(cat "$W/log")"
		strip "$W/hidden"
		covers hidden "program's own calls"
	done
	# The audit's advice.
	# shellcheck disable=SC2046 # flags
	$CC -O1 -fuse-ld=$linker "-Wl,--dynamic-list=$W/list" -o "$W/listed" tests/tool/leaky.c \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) 2>"$W/ld" || continue
	status_is 0 "$lw" audit --strict "$W/listed"
	shows '^coverage: the whole process'
done
if command -v g++ >/dev/null; then
	echo 'int main() { delete new int(1); }' >"$W/new.cc"
	# shellcheck disable=SC2046 # flags
	g++ -o "$W/new" "$W/new.cc" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) || fail new
	status_is 0 "$lw" audit --strict "$W/new"
	shows '^coverage: the whole process'
	shows_not 'shared$'
	# shellcheck disable=SC2046 # flags
	g++ -o "$W/new" "$W/new.cc" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_PROGRAM_CXX_LDLIBS) || fail new
	status_is 0 "$lw" audit --strict "$W/new"
	shows "^coverage: the program's own calls"
	shows '^note: libstdc++.so.6 is shared'
	# shellcheck disable=SC2046 # flags
	g++ -static-libstdc++ -o "$W/new" "$W/new.cc" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_STATIC_LDLIBS) ||
		fail new
	status_is 0 "$lw" audit --strict "$W/new"
	shows_not 'shared'
fi
if command -v ld.lld >/dev/null; then
	# shellcheck disable=SC2046 # flags
	$CC -O1 -static -fuse-ld=lld -o "$W/void" "$W/own.c" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) \
		>/dev/null 2>&1 && {
		status_is 1 "$lw" audit --strict "$W/void"
		shows 'a call jumps to address 0'
	}
fi

# audit reads files of other machines here.
cat >"$W/pointer.c" <<'END'
#include <stdlib.h>
void *volatile kept;
int main(void) { kept = (void *)calloc; return 0; }
END
for linker in lld mold; do # which cross compilers do not find by -fuse-ld=
	mkdir "$W/$linker"
	ln -s "$(command -v ld.$linker)" "$W/$linker/ld"
done
for machine in aarch64-linux-gnu arm-linux-gnueabihf i686-linux-gnu riscv64-linux-gnu; do
	command -v $machine-gcc >/dev/null || continue
	cat >"$W/stub.c" <<'END'
#include <stdlib.h>
extern void *__real_malloc(size_t);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return __real_malloc(size); }
__asm__(".pushsection .note.leakwrap,\"a\",%note\n.balign 4\n.long 9, 4, 1\n.asciz \"leakwrap\"\n"
        ".balign 4\n.long 1\n.popsection");
END
	# ARM's jumps need a veneer to change between Thumb and ARM code.
	for flags in "" "-no-pie" "-static" "-fPIE -pie -B$W/mold" "-fno-plt" \
		"-fno-plt -no-pie" "-marm -static" "-marm -static -B$W/lld" \
		"-marm -static -B$W/mold" "-no-pie -fuse-ld=gold" "-fPIE -pie -fuse-ld=gold" \
		"-no-pie -B$W/lld" "-fPIE -pie -B$W/lld"; do
		case $machine:$flags in
		arm*gold) command -v $machine-ld.gold >"$W/which" || continue ;;
		arm*) ;;
		*-marm* | *gold | *lld) continue ;;
		esac
		linker=${flags##*-B}
		[ "$linker" = "$flags" ] || [ -x "$linker/ld" ] || continue
		# shellcheck disable=SC2086 # flags
		$machine-gcc -O1 -foptimize-sibling-calls $flags -Wl,--wrap=malloc \
			-Wl,--eh-frame-hdr -o "$W/planted" "$W/planted.c" "$W/stub.c" ||
			fail "$machine $flags"
		status_is 1 "$lw" audit --strict "$W/planted"
		shows '^escape: 1 direct call of calloc, in by_calloc$'
		shows '^escape: [1-9] direct calls* of realloc, in by_jump'
		shows_not 'direct call of malloc, in \(wrapped\|0x\)'
	done
	# The program takes a pointer to the function from the linkage table, or computes it.
	case $machine in arm* | i686*) continue ;; esac
	for flags in "-fPIE -pie" "-static"; do
		# shellcheck disable=SC2086 # flags
		$machine-gcc -O1 $flags -Wl,--wrap=malloc -o "$W/planted" \
			"$W/pointer.c" "$W/stub.c" || fail "$machine $flags"
		status_is 1 "$lw" audit --strict "$W/planted"
		shows '^escape: [12] direct calls* of calloc, in main$'
	done
done
status_is 2 "$lw" audit "$W/planted.c"
status_is 2 "$lw" audit "$W/none"
# GNU ld puts the section headers at the end.
for bytes in 5000 $(($(wc -c <"$W/planted") - 1)); do
	head -c "$bytes" "$W/planted" >"$W/cut"
	status_is 2 "$lw" audit "$W/cut"
	said 'cut is cut off: its section headers are missing$'
done
status_is 2 "$lw" audit
said 'EXE is missing$'
status_is 2 "$lw" audit "$W/planted" "$W/none"
said 'none: one argument too many$'

# The link names allocators: in the file of its callers, in a file of its own, and by a wrong name.
cat >"$W/se.c" <<'END'
#include <stddef.h>
void *my_malloc(size_t size);
void my_free(void *block);
static char memory[4096];
static size_t used;
__attribute__((noinline)) void *my_malloc(size_t size)
{
	used += size;
	return memory + used - size;
}
__attribute__((noinline)) void my_free(void *block) { used -= block == memory + used; }
#ifndef APART
extern void *volatile kept;
int main(void) { kept = my_malloc(3); my_free(kept); return kept == NULL; }
#endif
END
cat >"$W/se2.c" <<'END'
#include <stddef.h>
void *my_malloc(size_t size);
void *volatile kept;
#ifdef APART
int main(void) { kept = my_malloc(3); return kept == NULL; }
#endif
END
export LEAKWRAP_LIB="$O/libleakwrap.a" XDG_CACHE_HOME="$W/cache"
for linker in bfd gold lld mold; do
	for static in "" -static; do
		named() {
			# shellcheck disable=SC2086 # flags
			"$lw" cc --allocator="$1" -- "$CC" $2 -O1 -fuse-ld=$linker $static \
				-o "$W/se" "$W/se.c" "$W/se2.c"
		}
		named my_ "" >"$W/ld" 2>&1 || {
			echo "left out: named, $linker $static: $(head -n 1 "$W/ld")"
			continue
		}
		if nm "$W/se" | grep -q ' __wrap_my_malloc$'; then
			# This linker redirects calls inside a file.
			status_is 0 "$lw" audit --strict "$W/se"
		else
			status_is 1 "$lw" audit --strict "$W/se"
			shows '^escape: 1 direct call of my_malloc, in main$'
			shows '^escape: 1 direct call of my_free, in main$'
			shows 'mend: define it in another source file'
		fi
		named my_ -DAPART || fail "named apart, $linker $static"
		status_is 0 "$lw" audit --strict "$W/se"
		named jemalloc_ -DAPART >"$W/ld" 2>&1 || {
			# ld.lld itself notices that the function is missing.
			grep -q 'undefined symbol: jemalloc_malloc' "$W/ld" ||
				fail "wrong name, $linker $static"
			continue
		}
		status_is 1 "$lw" audit --strict "$W/se"
		shows '^escape: the program has no function jemalloc_malloc$'
	done
done

# The program has wrappers of its own. Below them the tracer sees only the calls of a dynamic
# program whose whole process is traced.
cat >"$W/ours.c" <<'END'
#include <stdlib.h>
void __real_free(void *block);
void __wrap_free(void *block);
void __real__exit(int status);
void __wrap__exit(int status);
void __wrap_free(void *block) { __real_free(block); }
void __wrap__exit(int status) { __real__exit(status); }
END
for linker in bfd gold lld mold; do
	for kind in "" -static --program-only; do
		own=$kind
		[ "$kind" = --program-only ] && own='' || kind=
		# shellcheck disable=SC2086 # flags
		"$lw" cc $kind -- "$CC" -g -O1 $own -fuse-ld=$linker -Wl,--wrap=free,--wrap=_exit \
			-o "$W/ours" tests/tool/leaky.c "$W/ours.c" >"$W/ld" 2>&1 || {
			echo "left out: ours, $linker $kind $own: $(head -n 1 "$W/ld")"
			continue
		}
		"$lw" audit "$W/ours" >"$W/out" || fail "audit"
		shows '^note: __wrap__exit is the program'
		LEAKWRAP_OPTIONS=log=$W/ours.log "$W/ours" || fail "ours: status $?"
		coverage=$(dump_lines "$W/ours.log" 1 | grep '^coverage')
		rm "$W/ours.log"
		if [ -z "$kind$own" ]; then
			equal "ours, $linker" "$coverage" "coverage process"
			shows ' 0 escapes'
		else
			equal "ours, $linker $kind$own" "$coverage" "coverage program"
			shows '^escape: __wrap_free is the program.s own'
		fi
	done
done

# Flags for a whole project put the tracer into its shared libraries, too.
echo 'char *given; char *give(void) { return given; }' >"$W/shared.c"
echo 'char *give(void); int main(void) { return give() != 0; }' >"$W/uses.c"
mkdir -p "$W/lib"
for tracer in no yes; do
	flags=
	[ $tracer = no ] || flags=$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_PROGRAM_LDLIBS)
	# shellcheck disable=SC2086 # flags
	$CC -shared -fPIC -o "$W/lib/libshared.so" "$W/shared.c" $flags || fail "libshared.so"
	# shellcheck disable=SC2016 # the loader's
	for rpath in "-Wl,-rpath,$W/lib" '-Wl,-rpath,/none:$ORIGIN/lib' -L.; do
		"$lw" cc -- "$CC" -o "$W/uses" "$W/uses.c" -L"$W/lib" -lshared "$rpath" || fail uses
		[ "$rpath" != -L. ] || export LD_LIBRARY_PATH="$W/lib"
		"$lw" audit "$W/uses" >"$W/out" || fail "audit uses"
		unset LD_LIBRARY_PATH
		[ $tracer = yes ] || shows ' 0 of quality'
		[ $tracer = no ] || shows '^note: the tracer is in libshared.so, too'
		! grep __libc_malloc "$W/out" || fail "the tracer's names"
	done
done
# The library was traced after the program was linked.
$CC -shared -fPIC -o "$W/lib/libshared.so" "$W/shared.c" || fail "libshared.so"
"$lw" cc --program-only -- "$CC" -o "$W/uses" "$W/uses.c" -L"$W/lib" -lshared \
	-Wl,-rpath,"$W/lib" || fail uses
# shellcheck disable=SC2086 # flags
$CC -shared -fPIC -o "$W/lib/libshared.so" "$W/shared.c" $flags || fail "libshared.so"
"$lw" audit "$W/uses" >"$W/out" || fail "audit uses"
shows '^quality: the tracer is in libshared.so, too'
$CC -o "$W/uses" "$W/uses.c" -L"$W/lib" -lshared -Wl,-rpath,"$W/lib" || fail uses
"$lw" audit "$W/uses" >"$W/out" || fail "audit uses"
shows '^escape: the tracer is in libshared.so, not in this program'
