# shellcheck shell=sh
# lib.sh - what the tests share: verdicts, building traced programs, waiting, and reading dumps.
#
# A test sources it first: . tests/lib.sh. It sets W, a fresh folder for the test's own files, from
# the test's name. So a test also runs by hand: O=build tests/signal/idle_process.sh.

: "${O:=build}" "${CC:=gcc}"
case $O in /*) ;; *) O=$PWD/$O ;; esac
export O CC
here=${0%/*}
W=$O/tests/${here##*/}/$(basename "$0" .sh)
rm -rf "$W" && mkdir -p "$W" || exit 2
export TMPDIR="$W"
# A make in a test has no flags of a make around it, and a job for each processor.
unset LEAKWRAP_OPTIONS MAKEFLAGS MFLAGS MAKELEVEL

# -- verdicts --------------------------------------------------------------------------------------

fail() {
	echo "$*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# equal WHAT GOT WANTED: fails unless GOT is WANTED.
equal() {
	[ "$2" = "$3" ] || fail "$1: got '$2', wanted '$3'"
}

# Returns whether the loader finds the library of an address without a lock: glibc from 2.35 on, and
# not if the C library is another one.
has_find_object() {
	getconf GNU_LIBC_VERSION 2>/dev/null | awk '{ exit !($2 >= 2.35) }'
}

# has_emulator COMMAND: returns whether the emulator is there, and interrupts a thread that runs.
# qemu 5.2 does not.
has_emulator() {
	"$1" --version >"$W/emulator" 2>&1 && ! grep -q ' version 5\.' "$W/emulator"
}

# without_stale_pointers: sees to it that malloc leaves no address of another block in a new block.
# glibc from 2.26 to 2.31 would.
without_stale_pointers() {
	case $(getconf GNU_LIBC_VERSION 2>/dev/null) in
	"glibc 2.2"[6-9] | "glibc 2.3"[01]) export GLIBC_TUNABLES=glibc.malloc.tcache_count=0 ;;
	esac
}

# -- building --------------------------------------------------------------------------------------

# leakwrap_flags VARIABLE...: prints the flags that a user's makefile gets.
# shellcheck disable=SC2016 # for make, not for the shell
leakwrap_flags() {
	make --no-print-directory -s -f linker-flags.mk \
		--eval 'leakwrap-show-flags: ; @echo $(foreach v,$(SHOW),$($(v)))' \
		LEAKWRAP_LIB="$O/libleakwrap.a" SHOW="$*" leakwrap-show-flags
}

# runtime NAME VARIABLE=VALUE...: builds the runtime with the variables, and sets $lib to it. Tests
# share it by its name: one test builds it, and the others find it done. It has no debug
# information, which takes time to make, and from which no test reads.
runtime() {
	lib=$O/targets/$1/libleakwrap.a
	name=$1
	shift
	mkdir -p "$O/targets/$name"
	(
		flock 9
		unset CC AR
		path=$PATH
		case "$*" in CROSS_COMPILE=*) link_tool_chain "$1" && path=$W/tool-chain ;; esac
		PATH=$path make -s O="$O/targets/$name" HOSTCC=false WERROR=-Werror DEBUG_INFO= \
			"$@" lib >"$W/make" 2>&1
	) 9>"$O/targets/$name/lock" || fail "cannot build the runtime: $(tail -n 5 "$W/make")"
	# Programs are not linked with libatomic.
	! nm -u "$lib" | grep __atomic_ || fail "the runtime of $name wants libatomic"
}

# link_tool_chain CROSS_COMPILE=PREFIX: puts links to usual commands and to one tool chain into
# $W/tool-chain. A cross build needs no more. The host's own compiler finds these in the path.
link_tool_chain() {
	mkdir -p "$W/tool-chain"
	for command in sh make mkdir cp rm mv printf cat cmp sed awk grep sort tr wc \
		"${1#*=}gcc" "${1#*=}ar" "${1#*=}nm"; do
		ln -sf "/usr/bin/$command" "$W/tool-chain"
	done
	for command in as ld nm objcopy; do
		command=$("${1#*=}gcc" -print-prog-name=$command)
		case $command in /*) ;; *) ln -sf "/usr/bin/$command" "$W/tool-chain" ;; esac
	done
}

# of_runtime: copies flags of leakwrap_flags, and puts the runtime of $lib in the place of $O's.
of_runtime() {
	sed "s#$O/\\(libleakwrap.a\\|process\\)#${lib%/*}/\\1#g"
}

# has_uclibc: returns whether there is a compiler for uClibc-ng, which Debian does not have. Then
# $uclibc is the compiler, and "$uclibc_run PROGRAM" runs its programs.
has_uclibc() {
	uclibc=${UCLIBC_CC:-uclibc-gcc}
	# shellcheck disable=SC2034 # for the tests
	uclibc_run=${UCLIBC_RUN:-env}
	command -v "$uclibc" >/dev/null
}

# The flags resemble a user's. But the compiler keeps every call of a test, and each call has a
# frame. A call in a loop stays one call: clang unrolls short loops.
CFLAGS_FOR_TESTS="-std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -I. -Iwrap -fno-builtin"
CFLAGS_FOR_TESTS="$CFLAGS_FOR_TESTS -fno-omit-frame-pointer -fno-optimize-sibling-calls"
case $($CC --version 2>/dev/null) in
*clang*)
	keep_apart=-fno-unroll-loops
	CFLAGS_FOR_TESTS="$CFLAGS_FOR_TESTS -Wno-unused-command-line-argument"
	CFLAGS_FOR_TESTS="$CFLAGS_FOR_TESTS -Wno-unknown-warning-option"
	;;
*) keep_apart=-fno-ipa-icf ;; # functions with equal code
esac
CFLAGS_FOR_TESTS="$CFLAGS_FOR_TESTS $keep_apart"

# glibc before 2.34 has dlopen in libdl.
DL_FOR_TESTS=-Wl,--push-state,--as-needed,-ldl,--pop-state

# cxx_of COMPILER: prints the C++ compiler that belongs to the C compiler COMPILER.
cxx_of() {
	echo "$1" | sed 's/gcc/g++/; s/clang/clang++/'
}

# compile_once COMPILER ARGUMENT...: sets $object to the object that the command compiles. A test
# runs each command once.
compile_once() {
	object=$W/$(echo "$*" | cksum | tr ' ' -).o
	[ -e "$object" ] || "$@" -c -o "$object" || fail "cannot compile: $*"
}

# lacks_static_pie COMPILER LINKER: returns whether they make no static-pie executables that run
# untraced, and says so.
lacks_static_pie() {
	case $2 in
	gold) echo "left out: $1: gold cannot make static-pie executables" ;;
	lld) # version 11 with glibc 2.31, and on i386
		echo 'int main(void) { return 0; }' |
			"$1" -fPIE -static-pie -fuse-ld=lld -o "$W/empty" -x c - ||
			fail "$1, lld, static-pie: does not link an empty program"
		! "$W/empty" 2>"$W/errors" || return 1
		echo "left out: $1: lld's static-pie executables crash untraced"
		;;
	*) return 1 ;;
	esac
}

# static_libstdcxx_flags LINKER: prints the linker's own flags for -static-libstdc++: lld before
# version 14 needs some.
static_libstdcxx_flags() {
	case $1-$("ld.$1" --version) in
	lld-*"LLD "[1-9].* | lld-*"LLD 1"[0-3].*) leakwrap_flags LEAKWRAP_LLD_CXX_LDFLAGS ;;
	esac
}

# build_with LIBRARIES NAME SOURCE-OR-FLAG...: builds $W/NAME, traced. LIBRARIES is the variable of
# linker-flags.mk that has the libraries.
build_with() {
	libraries=$1 name=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$CC $CFLAGS_FOR_TESTS -o "$W/$name" "$@" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS "$libraries") -pthread $DL_FOR_TESTS ||
		fail "cannot build $name"
}

# build NAME SOURCE-OR-FLAG...: builds $W/NAME, traced. build_program_only builds it without the
# calls of shared libraries, and build_plain untraced.
build() {
	build_with LEAKWRAP_LDLIBS "$@"
}

build_program_only() {
	build_with LEAKWRAP_PROGRAM_LDLIBS "$@"
}

build_plain() {
	name=$1
	shift
	# shellcheck disable=SC2086 # lists of flags
	$CC $CFLAGS_FOR_TESTS -o "$W/$name" "$@" -pthread $DL_FOR_TESTS || fail "cannot build $name"
}

# build_cxx NAME SOURCE [FLAG]: builds $W/NAME, traced, from C++. It holds the C++ library.
build_cxx() {
	# shellcheck disable=SC2046 # a list of flags
	g++ -std=c++17 -O1 -g -fno-builtin -Wall -Wextra -Werror -I. ${3:+"$3"} -o "$W/$1" "$2" \
		-static-libstdc++ $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_CXX_LDLIBS) ||
		fail "cannot build $2"
}

# Sets archives and headers to the flags for tests/unwind/workloads.c.
find_prebuilt_archives() {
	archives=
	for library in lua5.4 sqlite3 xml2 glib-2.0 crypto; do
		archive=$($CC -print-file-name=lib$library.a)
		[ -e "$archive" ] || skip "lib$library.a is not installed"
		archives="$archives $archive"
	done
	packages="lua5.4 sqlite3 libxml-2.0 glib-2.0 libcrypto"
	# shellcheck disable=SC2034,SC2086 # for the test; a list
	headers=$(pkg-config --cflags $packages) || skip "no pkg-config"
	# shellcheck disable=SC2086 # a list
	archives="$archives $(libraries_behind $packages) -lstdc++ -lm"
}

# libraries_behind PACKAGE...: prints the flags for the libraries that the packages' archives need.
libraries_behind() {
	pkg-config --static --libs-only-l "$@" |
		sed 's/-l\(lua5\.4\|sqlite3\|xml2\|glib-2\.0\|crypto\) //g'
}

# -- reading the documents -------------------------------------------------------------------------

# manual_text PAGE...: prints manual pages as plain text, most paragraphs in one line. Skips the
# test if mandoc is missing, so it must not stand in a pipe: redirect its output.
manual_text() {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	mandoc -T ascii -O width=1000 "$@" | sed 's/.\x08//g'
}

# -- waiting ---------------------------------------------------------------------------------------

# For how many seconds a test waits for a dump, an answer, or the end of a process.
patience=30

# wait_until SECONDS COMMAND...: waits until the command succeeds. Fails if SECONDS pass before.
wait_until() {
	tries=$(($1 * 20))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

# wait_for_sleep PID: waits until the process sleeps in a system call.
wait_for_sleep() {
	wait_until "$patience" grep -q '^State:.S' "/proc/$1/status" ||
		fail "process $1 does not sleep: $(grep State "/proc/$1/status")"
}

# wait_for_dump LOG DUMP: waits until the dump is whole.
wait_for_dump() {
	wait_until "$patience" dump_is_whole "$1" "$2" ||
		fail "no whole dump $2 in $1: $(tail -n 3 "$1" 2>/dev/null)"
}

# -- reading dumps ---------------------------------------------------------------------------------
# DUMP is N, for dump N of any process, or PID.N.

# dump_lines LOG DUMP: prints the lines of a dump without their prefix.
dump_lines() {
	case $2 in *.*) dump_prefix=$2 ;; *) dump_prefix="[0-9]*\\.$2" ;; esac
	sed -n "s/^leakwrap\\[$dump_prefix\\] //p" "$1" 2>/dev/null
}

dump_is_whole() {
	dump_lines "$1" "$2" | grep -q '^end '
}

# dump_value LOG DUMP KEY: prints the value of KEY=.
dump_value() {
	dump_lines "$1" "$2" | grep -v '^note ' | tr ' ' '\n' | sed -n "s/^$3=//p" | head -n 1
}

# dump_sites LOG DUMP: prints a line for each call site, "BYTES BLOCKS KIND FUNCTION;FUNCTION;...",
# innermost function first.
dump_sites() {
	dump_lines "$1" "$2" | awk '
		function flush() { if (site != "") print site " " frames; site = "" }
		/^site / { flush(); site = $3 " " $6 " " $8; frames = ""; next }
		/^ *#/ { f = $3; sub(/\+0x[0-9a-f]*$/, "", f); frames = frames f ";"; next }
		{ flush() }
		END { flush() }'
}

# site_by LOG DUMP FUNCTION: prints "BYTES BLOCKS" of the call sites whose frame 0 is FUNCTION.
site_by() {
	dump_sites "$1" "$2" | awk -v f="$3" '
		{ split($4, frame, ";") }
		frame[1] == f { bytes += $1; blocks += $2 }
		END { print bytes + 0, blocks + 0 }'
}

# site_value LOG DUMP FUNCTION KEY: prints the number behind KEY= of the call sites whose frame 0 is
# FUNCTION.
site_value() {
	dump_lines "$1" "$2" | grep -B1 "^  #0 .* $3+" | sed -n "s/^site .* $4=\\([0-9]*\\).*/\\1/p"
}

# site_through LOG DUMP FUNCTION: prints "BYTES BLOCKS" of the call sites with FUNCTION in any
# frame.
site_through() {
	dump_sites "$1" "$2" | awk -v f=";$3;" '
		index(";" $4, f) { bytes += $1; blocks += $2 }
		END { print bytes + 0, blocks + 0 }'
}

# The loss line of a dump that missed nothing.
none_lost="untracked_blocks=0 untracked_bytes=0 lost_call_sites=0"
# shellcheck disable=SC2034 # for the tests
none_lost="$none_lost freed_elsewhere_blocks=0 foreign_frees=0"

# own_sites LOG DUMP: prints "BYTES BLOCKS" of the call sites of the program's own code, which have
# no origin.
own_sites() {
	dump_lines "$1" "$2" | awk '
		/^site / && !/ origin=/ { bytes += $3; blocks += $6 }
		END { print bytes + 0, blocks + 0 }'
}

# dumps LOG: prints the PID.N of every whole dump, in the order of their ends.
dumps() {
	sed -n 's/^leakwrap\[\([0-9]*\.[0-9]*\)\] end .*/\1/p' "$1" 2>/dev/null
}

# report_of_core OPTIONS PROGRAM [ARGUMENT...]: runs PROGRAM in a debugger until it ends, and makes
# a core file there, before destructors run where that is seen: libgcc's release memory. What
# leakwrap report says of the dump and that core goes to $W/out. The addresses are random as outside
# a debugger. Otherwise a static program's heap begins right behind its variables, and glibc's
# default size of stacks, 8 MiB, may be an address in it.
report_of_core() {
	command -v gdb >/dev/null || skip "gdb is not installed"
	options=log=$W/core.log:blocks=1:exit=0$1
	shift
	LEAKWRAP_OPTIONS=$options gdb -q -batch -ex "handle SIGUSR1 nostop noprint" \
		-ex "set disable-randomization off" \
		-ex "set breakpoint pending on" -ex "break exit" -ex "catch syscall exit_group" \
		-ex run -ex "gcore $W/gcore" -ex kill --args "$@" \
		>"$W/gdb" 2>&1
	[ -s "$W/gcore" ] || skip "gdb cannot make a core file: $(tail -n 1 "$W/gdb")"
	"$O/leakwrap" report --core="$W/gcore" "$W/core.log" >"$W/out" || fail "report: status $?"
}

# lost_blocks PROGRAM DEFINITELY POSSIBLY: fails unless the search in the program and the search in
# its core file find so many blocks definitely and possibly lost.
lost_blocks() {
	LEAKWRAP_OPTIONS=kinds=always:exit=0:log=$W/log "$1" || fail "status $?"
	equal "definitely lost" "$(dump_value "$W/log" 1 definite_blocks)" "$2"
	equal "possibly lost" "$(dump_value "$W/log" 1 possible_blocks)" "$3"
	report_of_core '' "$1"
	grep -q "definitely lost: .* in $2 blocks\{0,1\}\$" "$W/out" ||
		fail "core: $(head -n 20 "$W/out")"
	grep -q "possibly lost: .* in $3 blocks\{0,1\}\$" "$W/out" ||
		fail "core: $(head -n 20 "$W/out")"
}
