#!/bin/sh
# The blocks of a dynamic program and of its libraries are those that valgrind finds in use at exit.
#
# They are equal in number and size, by the first frame of the program. No free is foreign, and the
# stacks are complete. Valgrind runs the untraced program, and frees nothing of the C library
# itself.
# timeout: 480
. tests/lib.sh

command -v valgrind >"$W/which" || skip "no valgrind"
case $($CC -dumpmachine) in x86_64-*) ;; *) skip "valgrind runs programs of this machine" ;; esac
left_out=

# Under valgrind, GLib does not keep the small integers of a hash table in half of the memory: the 8
# entries of a new table take 64 bytes in place of 32. Elsewhere they may when an entry is added. So
# 64 bytes count as 32 on both sides.
#
# Python takes each of its objects from malloc. Its own allocator keeps a table by address, which
# needs 128 KB more in the rare process whose memory lies across a multiple of 16 GB. An integer
# that holds an address takes 28 bytes under valgrind, where addresses are small, and 32 elsewhere:
# both count as 28.
#
# blocks_of_valgrind REPORT EXE: prints "FUNCTION BYTES BLOCKS" for each first frame of the program.
# Blocks without such a frame count for "-".
blocks_of_valgrind() {
	awk -v exe="$2" '
		function value() { sub(/^[^>]*>/, ""); sub(/<.*/, ""); return $0 }
		/<error>/ { found = stacks = 0; leaked = 0; name = "-" }
		/<leakedbytes>/ { bytes = value(); leaked = 1 }
		/<leakedblocks>/ { blocks = value() }
		/<stack>/ { stacks++ }
		/<frame>/ { in_exe = 0; fn = "?" }
		/<obj>/ { in_exe = value() == exe }
		/<fn>/ { fn = value() }
		fn ~ /^g_hash_table_(new_full|add|insert)$/ && bytes == 64 { bytes = 32 }
		# A constructor has two names.
		{ sub(/C1E/, "C2E", fn) }
		/<\/frame>/ { if (in_exe && !found && stacks == 1) { name = fn; found = 1 } }
		/<\/error>/ { if (leaked) { all[name] += bytes; number[name] += blocks } }
		END { for (name in all) print name, all[name], number[name] }' "$1" | sort
}

# blocks_of_dump LOG: the same for a dump.
blocks_of_dump() {
	dump_lines "$1" 1 | awk '
		function flush() {
			if (site) { all[name] += bytes; number[name] += blocks }
			site = 0
		}
		/^site / { flush(); site = 1; bytes = $3; blocks = $6; name = "-"; next }
		/ g_hash_table_(new_full|add|insert)\+/ && bytes == 64 * blocks { bytes /= 2 }
		/ _PyLong_New\+/ && bytes == 32 * blocks { bytes = 28 * blocks }
		/^ *#/ {
			if (name == "-" && $4 == "[1]" && $3 !~ /^__wrap_/) {
				name = $3
				sub(/\+0x[0-9a-f]*$/, "", name)
				sub(/C1E/, "C2E", name)
			}
			next
		}
		{ flush() }
		END { flush(); for (name in all) print name, all[name], number[name] }' | sort
}

# check CASE SOURCE PACKAGES FLAG...: compares the case.
check() {
	case=$1 source=$2 packages=$3
	shift 3
	if [ -n "$packages" ]; then
		# shellcheck disable=SC2086 # a list
		packages_flags=$(pkg-config --cflags --libs $packages 2>"$W/errors") || {
			left_out="$left_out $case"
			return
		}
		# shellcheck disable=SC2086 # a list of flags
		set -- $packages_flags "$@"
	fi
	case $source in *.cpp) compiler=${CXX:-g++} ;; *) compiler=$CC ;; esac
	# shellcheck disable=SC2086 # lists of flags
	{
		$compiler -O1 -I. -fno-builtin -fno-optimize-sibling-calls -D"CASE_$case" \
			-c -o "$W/$case.o" "$source" "$@" &&
			$compiler -o "$W/$case.plain" "$W/$case.o" "$@" -pthread &&
			$compiler -o "$W/$case.traced" "$W/$case.o" "$@" $flags -pthread
	} || fail "$case: cannot build"
	PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc G_SLICE=always-malloc
	export PYTHONHASHSEED PYTHONDONTWRITEBYTECODE PYTHONMALLOC G_SLICE
	valgrind --leak-check=full --show-leak-kinds=all --leak-resolution=high --num-callers=200 \
		--run-libc-freeres=no --run-cxx-freeres=no --read-inline-info=no \
		--undef-value-errors=no --demangle=no --default-suppressions=no \
		--show-below-main=yes \
		--xml=yes --xml-file="$W/$case.xml" "$W/$case.plain" >"$W/$case.out" ||
		fail "$case: valgrind fails"
	LEAKWRAP_OPTIONS=log="$W/$case.log:depth=200" "$W/$case.traced" >"$W/$case.traced.out" ||
		fail "$case: status $?"
	cmp "$W/$case.out" "$W/$case.traced.out" || fail "$case: another output"
	blocks_of_valgrind "$W/$case.xml" "$W/$case.plain" >"$W/$case.wanted"
	[ -s "$W/$case.wanted" ] || fail "$case: valgrind finds nothing"
	blocks_of_dump "$W/$case.log" >"$W/$case.got"
	diff "$W/$case.wanted" "$W/$case.got" >"$W/$case.difference" ||
		differences="$differences
$case: valgrind (<) and the dump (>): $(cat "$W/$case.difference")"
	equal "$case: coverage" "$(dump_lines "$W/$case.log" 1 | grep '^coverage\|^bypass')" \
		"coverage process"
	equal "$case: loss" "$(dump_lines "$W/$case.log" 1 | sed -n 's/^loss //p')" "$none_lost"
	complete=$(dump_value "$W/$case.log" 1 complete_stack_bytes_percent)
	case $complete in 100.00 | 99.9?) ;; *) fail "$case: $complete % complete" ;; esac
}

differences='' flags=$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS)
c=tests/alloc/against_valgrind.c
for case in strings regex filesystem threads exceptions; do
	check $case tests/alloc/against_valgrind.cpp '' -std=c++17
done
${CXX:-g++} -O1 -shared -fPIC -o "$W/plugin.so" tests/alloc/against_valgrind_plugin.cpp ||
	fail "cannot build the plugin"
PLUGIN=$W/plugin.so
export PLUGIN
check plugin $c '' -ldl
check libc $c ''
check glib $c glib-2.0
check xml $c libxml-2.0
check sqlite $c sqlite3
check curl $c libcurl
check openssl $c 'libssl libcrypto'
check python $c python3-embed
[ -z "$differences" ] || fail "$differences"
[ -z "$left_out" ] || skip "left out, for want of the library:$left_out"
