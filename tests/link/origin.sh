#!/bin/sh
# Blocks that a static C or C++ library holds for itself are marked, and the program's never are.
#
# Marked blocks are no leaks. This holds however the program is linked, and wherever the linker puts
# the code.
# timeout: 300
. tests/lib.sh
. tests/tool/tool.sh

WRAPS=$(leakwrap_flags LEAKWRAP_LDFLAGS)
C=$(leakwrap_flags LEAKWRAP_LDLIBS)
CXX=$(leakwrap_flags LEAKWRAP_CXX_LDLIBS)
CXX_STATIC=$(leakwrap_flags LEAKWRAP_CXX_STATIC_LDLIBS)
LLD_STATIC=$(leakwrap_flags LEAKWRAP_LLD_LDFLAGS)
FLAGS="-O2 -g -I. -fno-omit-frame-pointer -fno-builtin -fno-optimize-sibling-calls"

# judge WHAT PROGRAM WANTED ARGUMENT...: runs PROGRAM, and judges its exit dump.
judge() {
	what=$1 program=$2 wanted=$3
	shift 3
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$program" "$@" >"$W/printed" ||
		fail "$what: the program's status is $?"
	"$lw" report --fail-on-leaks --leak-kinds=all "$W/log" >"$W/out" 2>"$W/err"
	got=$?
	[ $got = "$wanted" ] ||
		fail "$what: verdict $got, wanted $wanted: $(cat "$W/err" "$W/log")"
}

# marked: prints the bytes of the marked call sites, and their innermost functions.
marked() {
	dump_lines "$W/log" 1 | awk '
		/^site/ { is_marked = / origin=system_library$/; bytes = $3 }
		/^  #0 / && is_marked { sub(/\+.*/, "", $3); print bytes, $3 }'
}

# check_c WHAT PROGRAM: the program's blocks are unmarked, and the library's blocks are marked.
check_c() {
	judge "$1" "$2" 1 leaks
	for function in by_constructor by_comparator by_static re_string_realloc_buffers \
		by_global; do
		[ "$(site_by "$W/log" 1 $function)" != "0 0" ] ||
			fail "$1: no block of $function: $(cat "$W/log")"
		! marked | grep -q " $function\$" || fail "$1: $function is marked"
	done
	grep -q ' 1,500 bytes in 5 blocks are live' "$W/err" || fail "$1: $(cat "$W/err" "$W/log")"
	[ -n "$(marked)" ] || fail "$1: nothing is marked"
	judge "$1, clean" "$2" 0
}

# The bytes of the C++ library's emergency pool.
pool='7[0-9]*'
[ "$(getconf LONG_BIT)" = 64 ] || pool='18[0-9]*'
for linker in ${LINKERS:-bfd gold lld mold}; do
	command -v "ld.$linker" >"$W/which" 2>&1 || {
		echo "left out: no ld.$linker"
		continue
	}
	lld=
	[ "$linker" != lld ] || lld=$LLD_STATIC
	for cc in gcc clang; do
		for kind in -static-libstdc++ -static -static-pie; do
			[ $kind != -static-pie ] || ! lacks_static_pie $cc "$linker" || continue
			libraries=$CXX extra=$lld pie=
			case $kind in
			-static-libstdc++)
				libraries=$CXX_STATIC extra=$(static_libstdcxx_flags "$linker")
				;;
			esac
			case $cc in gcc) cxx=g++ ;; clang) cxx=clang++ ;; esac
			case $kind in -static-pie) pie=-fPIE ;; esac
			# shellcheck disable=SC2086 # lists of flags
			{
				compile_once $cxx $FLAGS $pie tests/link/clean.cpp
				rm -f "$W/clean" # mold would leave parts of it in the new file
				$cxx -fuse-ld=$linker $kind -o "$W/clean" "$object" \
					$extra $WRAPS $libraries ||
					fail "$cxx $linker $kind: does not link"
			}
			judge "$cxx $linker $kind" "$W/clean" 0
			[ "$(marked | grep -c "^$pool _GLOBAL__sub_I_eh_alloc.cc\$")" = 1 ] ||
				fail "$cxx $linker $kind: the emergency pool: $(marked)"
			[ $kind != -static-libstdc++ ] || continue
			# shellcheck disable=SC2086
			{
				compile_once $cc $FLAGS $pie tests/link/origin.c
				$cc -fuse-ld=$linker $kind -o "$W/c" "$object" $extra $WRAPS $C ||
					fail "$cc $linker $kind: does not link"
			}
			check_c "$cc $linker $kind" "$W/c"
		done
	done

	# The order of the code varies. The libraries may come before the object that leaks.
	# shellcheck disable=SC2086
	{
		compile_once $CC $FLAGS -flto tests/link/origin.c
		lto=$object
		compile_once $CC $FLAGS -ffunction-sections tests/link/origin.c
	}
	# shellcheck disable=SC2086
	for layout in "first" "-Wl,--sort-section=alignment" "-Wl,--gc-sections" \
		"-Wl,--sort-section=name" lto; do
		case $linker$layout in
		lldlto) [ "${CC##*/}" = clang ] || continue ;; # lld does not read gcc's objects
		esac
		case $layout in
		first) set -- $lld $WRAPS $C "$object" ;;
		lto) set -- -O2 -flto "$lto" $lld $WRAPS $C ;;
		*) set -- $layout "$object" $lld $WRAPS $C ;;
		esac
		if ! $CC -static -fuse-ld=$linker -o "$W/c" "$@" 2>"$W/errors"; then
			echo "left out: $linker, $layout: $(head -n 1 "$W/errors")"
			continue
		fi
		check_c "$linker, $layout" "$W/c"
	done
done

# A block that a library allocates for its caller belongs to the caller.
for kind in -static -static-libstdc++ -pie; do
	case $kind in
	-static) libraries=$CXX handles="regex fopen dir obstack" ;;
	-static-libstdc++) libraries=$CXX_STATIC handles= ;;
	-pie) libraries=$C handles="regex fopen dir obstack" ;;
	esac
	# shellcheck disable=SC2086
	{
		compile_once g++ $FLAGS -Wno-delete-non-virtual-dtor tests/link/for_caller.cpp
		g++ $kind -o "$W/for_caller" "$object" $WRAPS $libraries ||
			fail "for_caller: does not link"
	}
	judge "$kind, nothing" "$W/for_caller" 0
	for what in string $handles; do
		judge "$kind, $what" "$W/for_caller" 1 "$what"
	done
done

# The buffer of a stream belongs to the C library, though getline or scanf, which allocate for their
# caller, may be the first to need it.
cat >"$W/buffer.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char *line = NULL;
	size_t size = 0;
	int number;
	if (strcmp(how, "getline") == 0)
		return getline(&line, &size, stdin) != 3 ? 1 : (free(line), 0);
	if (strcmp(how, "scanf") == 0)
		return scanf("%d", &number) != 1;
	return wscanf(L"%d", &number) != 1;
}
END
echo 12 >"$W/12"
for kind in -static -pie; do
	build buffer $kind "$W/buffer.c"
	build_plain plain $kind "$W/buffer.c"
	for how in getline scanf wscanf; do
		"$W/plain" $how <"$W/12" || { # wscanf with -static and glibc 2.43
			echo "left out: $kind, $how: the untraced program's status is $?"
			continue
		}
		judge "$kind, $how" "$W/buffer" 0 $how <"$W/12"
		[ -n "$(marked)" ] || fail "$kind, $how: no buffer"
	done
done

# A stripped program cannot tell whose its blocks are, so its own dump marks none. The tool can
# tell, if it finds the symbols.
# shellcheck disable=SC2086
g++ $FLAGS -static -Wl,--build-id -o "$W/clean" tests/link/clean.cpp $WRAPS $CXX ||
	fail "does not link"
strip -o "$W/stripped" "$W/clean"
judge "stripped" "$W/stripped" 1
equal "stripped: marked in the dump" "$(marked)" ""
said 'has no symbols: what its C library allocated counts as the program.s own'
status_is 0 "$lw" report --fail-on-leaks --exe="$W/clean" "$W/log"
shows ', by a system library'

# system=0 leaves the marked blocks out, and says how much they are.
LEAKWRAP_OPTIONS=system=0:log=$W/without "$W/clean" >"$W/printed" || fail "system=0: status $?"
LEAKWRAP_OPTIONS=log=$W/with "$W/clean" >"$W/printed" || fail "system=1: status $?"
equal "system=0: live bytes" "$(dump_value "$W/without" 1 live_bytes)" 0
equal "system=0: call sites" "$(dump_value "$W/without" 1 call_sites)" 0
for what in blocks bytes; do
	equal "system=0: left out" "$(dump_value "$W/without" 1 left_out_$what)" \
		"$(dump_value "$W/with" 1 live_$what)"
	equal "system=1: left out" "$(dump_value "$W/with" 1 left_out_$what)" ""
done
status_is 0 "$lw" report --fail-on-leaks "$W/without"
shows " of system libraries left out"
status_is 0 "$lw" report --format=json "$W/without"
shows '"left_out_blocks":'

# --no-system does the same, with any dump.
status_is 0 "$lw" report --no-system "$W/with"
shows '0 bytes live in 0 blocks at 0 call sites'
shows " of system libraries left out"
shows_not 'by a system library'
status_is 0 "$lw" report --no-system --exe="$W/clean" --fail-on-leaks "$W/log"
shows '0 bytes live in 0 blocks'
status_is 0 "$lw" diff --no-system "$W/with" "$W/with"

LEAKWRAP_OPTIONS=system=0:log=$W/unknown "$W/stripped" >"$W/printed" || fail "status $?"
grep -q 'note system=0 has left out nothing' "$W/unknown" || fail "stripped: no note"
LEAKWRAP_OPTIONS=system=0:log=$W/c.without "$W/c" leaks >"$W/printed" || fail "status $?"
equal "system=0: the program's" "$(dump_value "$W/c.without" 1 live_bytes)" 1500

# If the lists are of another C library, they do not fit, and a report says so.
awk '/leakwrap_system|globl|hidden/ { next }
	/long/ { sub(/, /, ", 1 + ") }
	{ print }' "$O/include/system_c.h" | sed 's/long 1, 1 + /long 1, /' >"$W/other.h"
printf '#include "system_lists.h"\n#include "other.h"\n' >"$W/other.c"
$CC -Ireport -c -o "$W/other.o" "$W/other.c" || fail "cannot compile the other list"
objcopy -O binary --only-section=.leakwrap.system --set-section-flags .leakwrap.system=alloc \
	"$W/other.o" "$W/other.list"
cp "$W/c" "$W/other"
objcopy --update-section .leakwrap.system="$W/other.list" "$W/other" || fail "objcopy"
judge "another list" "$W/other" 1
said 'has another C library than leakwrap was built for'
judge "its own list" "$W/c" 0
! grep 'another C' "$W/err" || fail "its own list does not fit"

# Where the linker reads another C library than -print-file-name finds, the list has nothing of the
# folder of the latter.
cat >"$W/print" <<END
#!/bin/sh
case \$1 in
-print-file-name=*) ls "$W/printed_there/\${1#*=}" 2>/dev/null || echo "\${1#*=}" ;;
*) echo "$W/linked_there/libc.a" ;;
esac
END
chmod +x "$W/print"
mkdir -p "$W/linked_there" "$W/printed_there"
for library in linked_there/libc printed_there/libc printed_there/libm; do
	{
		echo '#include <stdlib.h>'
		echo "void *in_${library#*/}_${library%/*}(void) { return malloc(1); }"
	} >"$W/function.c"
	$CC -c -o "$W/function.o" "$W/function.c" || fail "cannot compile $library"
	ar rcs "$W/$library.a" "$W/function.o"
done
count_functions() {
	CC=$W/print NM=nm report/system_functions.sh c malloc | grep -c '"\.long [0-9]\{5,\}, '
}
functions=$(count_functions)
cp "$W/printed_there/libc.a" "$W/linked_there/libc.a"
equal "functions of two C libraries and of one" "$functions $(count_functions)" "1 2"

# A variable is no other name of operator new, although its address and size in the archive are the
# same: such variables are in many members.
word='__attribute__((weak)) long weak_word = 1;'
cat >"$W/new.c" <<END
$word
__asm__(".section .text.new,\"ax\"\n.globl _Znwm\n.type _Znwm, %function\n"
        "_Znwm: .space $(getconf LONG_BIT) / 8\n.size _Znwm, . - _Znwm\n");
END
cat >"$W/keeps.c" <<END
$word
void _GLOBAL__keeps(void) { weak_word++; }
END
for member in new keeps; do
	$CC -fdata-sections -ffunction-sections -c -o "$W/$member.o" "$W/$member.c" ||
		fail "cannot compile $member.c"
done
ar rcs "$W/printed_there/libstdc++.a" "$W/new.o" "$W/keeps.o"
CC=$W/print NM=nm report/system_functions.sh cxx _Znwm >"$W/list"
grep -q '"\.long 2, 1\\n"' "$W/list" || fail "what libstdc++ keeps: $(cat "$W/list")"

# With --no-system the call sites are numbered without gaps.
cat >"$W/ranks.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
void *volatile kept;
int main(void)
{
	FILE *file = fopen("/dev/null", "r");
	fgetc(file);
	kept = malloc(1);
	return file == NULL;
}
END
build ranks -static "$W/ranks.c"
LEAKWRAP_OPTIONS=log="$W/ranks.log":system=1 "$W/ranks" || fail ranks
status_is 0 "$lw" report --no-system "$W/ranks.log"
equal "the ranks" "$(sed -n 's/^  #\([0-9]*\) .*/\1/p' "$W/out" | tr '\n' ' ')" \
	"$(seq "$(grep -c '^  #' "$W/out")" | tr '\n' ' ')"
