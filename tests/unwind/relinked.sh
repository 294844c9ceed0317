#!/bin/sh
# In programs relinked with prebuilt archives, 99.9 % of the live bytes have stacks to the first
# frame.
#
# The archives have no frame pointers. The frames' names must show it, not only the dump's word. At
# sampled allocations the backtrace must be equal to gdb's.
# timeout: 300
. tests/lib.sh

find_prebuilt_archives

# stacks LOG: prints ALL-BYTES BYTES-THAT-REACH-THE-FIRST-FRAME, and a line for each call site that
# is wrong, or incomplete by its own account. In the shared C library, the functions that threads
# begin in have no names: they are its last two frames, behind one of the functions that the
# programs give to new threads. The loader runs the constructors of libraries. Its functions have no
# names.
stacks() {
	dump_lines "$1" 1 | awk '
		function is_first(   outer, first) {
			first = name[frames]
			outer = name[frames - 1]
			if (first == "_start")
				return outer ~ /^__libc_start_main/
			if (first ~ /^(__)?clone3?$/)
				return outer == "start_thread"
			if (first == "?" && file[frames] ~ /^ld-linux/)
				return outer == "?" && file[frames - 1] ~ /^ld-linux/
			return first == "?" && outer == "?" && \
				file[frames] ~ /^libc\.so/ && file[frames - 1] ~ /^libc\.so/ && \
				name[frames - 2] ~ \
				/^(in_thread|g_thread_proxy|execute_native_thread_routine|\?)$/ && \
				(name[frames - 2] != "?" || file[frames - 2] ~ /^libstdc\+\+/)
		}
		function flush() {
			if (bytes == "")
				return
			all += bytes
			if (is_first())
				reached += bytes
			if (is_first() != (kind == "complete") || kind != "complete") {
				printf "%s bytes, %s:", bytes, kind
				for (i = 1; i <= frames; i++)
					printf " %s[%s]", name[i], file[i]
				print ""
			}
			bytes = ""
		}
		/^site / { flush(); bytes = $3; kind = $8; frames = 0; next }
		/^ *#/ {
			name[++frames] = $3
			sub(/\+0x[0-9a-f]*$/, "", name[frames])
			file[frames] = $NF
			next
		}
		{ flush() }
		END { flush(); print all + 0, reached + 0 }'
}

# check PROGRAM ARGUMENT...: runs the traced program.
check() {
	what=$*
	program=$1
	shift
	LEAKWRAP_OPTIONS=depth=256:exit=0 "$W/$program" "$@" 2>"$W/log" || fail "$what: status $?"
	stacks "$W/log" >"$W/stacks"
	counts=$(tail -n 1 "$W/stacks")
	all=${counts% *} reached=${counts#* }
	[ "$all" -gt 1000 ] || fail "$what: only $all live bytes"
	echo "$what: $reached of $all live bytes"
	[ $((reached * 1000)) -ge $((all * 999)) ] || fail "$what: $(head -n 5 "$W/stacks")"
	! grep -q ' bytes, complete:' "$W/stacks" ||
		fail "$what: is not: $(grep -m 3 ' bytes, complete:' "$W/stacks")"
	total=$((total + all)) total_reached=$((total_reached + reached))
}

# link NAME COMPILER ARGUMENT...: links a traced program. Static C++ code needs more of the runtime.
# One of the archives has such code.
link() {
	name=$1 compiler=$2
	shift 2
	libraries=LEAKWRAP_LDLIBS
	case " $* " in *" -static"*) libraries=LEAKWRAP_CXX_LDLIBS ;; esac
	# shellcheck disable=SC2046
	$compiler -o "$W/$name" "$@" -pthread \
		$(leakwrap_flags LEAKWRAP_LDFLAGS $libraries) 2>"$W/$name.log" ||
		fail "cannot build $name: $(cat "$W/$name.log")"
}

# sample PROGRAM ARGUMENT...: runs the program under gdb, and compares.
sample() {
	[ -z "$no_gdb" ] || return
	what=$*
	program=$1
	shift
	SAMPLED_LOG=$W/sample LEAKWRAP_OPTIONS=depth=256:exit=0:min_bytes=512M:log=$W/sample \
		gdb -nx -batch -x tests/unwind/sampled.py --args "$W/$program" "$@" >"$W/gdb" 2>&1
	# shellcheck disable=SC2046 # four numbers
	set -- $(sed -n 's/^sampled: //p' "$W/gdb")
	[ "${4-}" = 0 ] || fail "$what: $(tail -n 20 "$W/gdb")"
	echo "$what: $1 samples, $2 frames, $3 backtraces differ from gdb's"
	[ "$3" = 0 ] || fail "$(grep -A 20 -m 3 ^differs "$W/gdb")"
	[ "$1" -ge 20 ] || fail "$what: only $1 samples"
	samples=$((samples + $1))
}

no_gdb=$(gdb -nx -batch -ex 'python print()' -ex run --args true 2>&1 |
	grep -m 1 -iE 'not found|not permitted|python|cannot')
case $($CC -dumpmachine) in
x86_64-*) ;;
*) no_gdb="sampled.py has the registers of x86-64" ;;
esac
optimized="-O2 -fomit-frame-pointer -Wall -Wextra -I. -Iwrap"
# shellcheck disable=SC2086 # lists
build_plain workloads.o -c -fomit-frame-pointer $headers tests/unwind/workloads.c
# shellcheck disable=SC2086
{
	$CC $optimized -c -o "$W/relinked.o" tests/unwind/relinked.c &&
		g++ $optimized -std=c++17 -c -o "$W/cxx.o" tests/unwind/relinked.cpp
} || fail "cannot compile"
total=0 total_reached=0 samples=0
# shellcheck disable=SC2086
for how in "" -static -static-pie; do
	case $how-$($CC -dumpmachine) in
	-static-pie-i?86-*)
		echo "left out: $how: glibc's memset_chk cannot be linked so there"
		continue
		;;
	esac
	link "relinked$how" "$CC" $how "$W/relinked.o" "$W/workloads.o" $archives
	for library in lua sqlite xml glib crypto; do
		check "relinked$how" $library 0
	done
	check "relinked$how" all 0
	check "relinked$how" all 4
	[ "$how" = -static-pie ] || sample "relinked$how" all 0
	sample "relinked$how" all 4
	link "cxx$how" g++ $how "$W/cxx.o"
	check "cxx$how" all 0
	check "cxx$how" all 4
	[ "$how" = -static-pie ] || sample "cxx$how" all 0
	sample "cxx$how" all 4
done
echo "together: $total_reached of $total live bytes, $samples backtraces as gdb's"
[ -z "$no_gdb" ] || skip "not compared with gdb: $no_gdb"
