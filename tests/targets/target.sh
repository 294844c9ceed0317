# shellcheck shell=sh disable=SC2154 # variables of tests/lib.sh
# target.sh - builds programs for another machine from one source, runs them, and compares their
# dumps with one list of call sites.
#
# Sourced after tests/lib.sh.

lw=$O/leakwrap
[ -x "$lw" ] || skip "the tool is not built: $O/leakwrap"
unset DEBUGINFOD_URLS
export LC_ALL=C

# target TRIPLE QEMU: programs for TRIPLE run as "$run PROGRAM". QEMU is empty for this machine.
target() {
	triple=$1
	gcc=$triple-gcc
	run=
	command -v "$gcc" >/dev/null || skip "$gcc is not installed"
	if [ -n "$2" ]; then
		command -v "$2" >/dev/null || skip "$2 is not installed"
		run="$2 -L /usr/$triple"
	fi
	runtime "$triple" CROSS_COMPILE="$triple-"
}

# each_target COMMAND: reads lines TRIPLE QEMU FLAG..., and calls COMMAND NAME FLAG... for each of
# them, with the variables of target. Returns false if no compiler and emulator is installed.
each_target() {
	ran=
	while read -r triple qemu flags; do
		if command -v "$triple-gcc" >/dev/null && command -v "$qemu" >/dev/null; then
			target "$triple" "$qemu"
			# shellcheck disable=SC2086 # a list of flags
			"$1" "$triple$(echo "$flags" | tr -d ' ')" $flags
			ran=$ran$triple
		else
			echo "left out: no $triple-gcc, or no $qemu"
		fi
	done
	[ -n "$ran" ]
}

# The program is compiled as usual, but each function has a frame. The vendor's code is compiled for
# size and speed.
TARGET_CFLAGS="-std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -I. -Iwrap"
TARGET_CFLAGS="$TARGET_CFLAGS -fno-builtin -fno-optimize-sibling-calls"

# build_on_target NAME ARGUMENT...: builds $W/NAME as TARGET_CFLAGS and the arguments say, and links
# it with the runtime. $gcc and $lib are the target's.
build_on_target() {
	program_of_target=$W/$1
	shift
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$gcc $TARGET_CFLAGS "$@" -o "$program_of_target" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) -pthread \
		2>"$W/link" || fail "$program_of_target: $(tail -n 5 "$W/link")"
}

# The name of each expected call, with its source line: FILE:LINE NAME.
grep -n '/\* @' tests/targets/program.c tests/targets/vendor.c |
	sed 's|^[^:]*/\([^/:]*\):\([0-9]*\):.*/\* @\([^ ]*\) .*|\1:\2 \3|' >"$W/names"

# call_sites EXE LOG@N: prints the call sites that the tool reports, in the notation of the list:
# bytes, blocks, and the frames in the program's and the vendor's sources as function@name. It
# leaves out the C library's own blocks. It says if a stack is not complete.
call_sites() {
	"$lw" report --all --exe="$1" "$2" >"$W/report" 2>"$W/report.err" ||
		fail "no report: $(cat "$W/report.err")"
	awk -v names="$W/names" '
		BEGIN {
			while ((getline line < names) > 0) {
				split(line, w, " ")
				name[w[1]] = w[2]
			}
		}
		function flush() { if (site != "") print site frames kind; site = "" }
		/^  #[0-9]+ [0-9,]+ bytes? in / {
			flush()
			gsub(",", "")
			site = $2 " " $5
			frames = kind = ""
			if (/truncated/) kind = " truncated"
			if (/guessed/) kind = " guessed"
			if (/by a system library/) site = ""
			next
		}
		site != "" && /^      / {
			place = $2
			sub(/.*\//, "", place)
			if (place ~ /^(program|vendor)\.c:/)
				frames = frames " " $1 "@" (place in name ? name[place] : place)
			next
		}
		{ flush() }
		END { flush() }' "$W/report" | sort
}

# as_expected LABEL EXE LOG@N [LINES]: the dump has the listed call sites, and LINES, and no others.
as_expected() {
	{
		cat "$expected"
		[ -z "${4-}" ] || echo "$4"
	} | sort >"$W/wanted"
	call_sites "$2" "$3" >"$W/got"
	cmp -s "$W/wanted" "$W/got" || {
		diff -U 0 "$W/wanted" "$W/got" | tail -n +3
		fail "$1: other call sites than expected"
	}
}

# -- building and running --------------------------------------------------------------------------

# program COMPILER FLAG...: builds $W/program.o.
# vendor COMPILER FLAG...: builds $W/vendor.a, without frame pointers unless the flags say
# otherwise.
program() {
	# shellcheck disable=SC2086 # a list of flags
	"$@" $TARGET_CFLAGS -c -o "$W/program.o" tests/targets/program.c ||
		fail "cannot compile: $*"
}

vendor() {
	compiler=$1
	shift
	# shellcheck disable=SC2086
	"$compiler" $TARGET_CFLAGS -fomit-frame-pointer "$@" -c -o "$W/vendor.o" \
		tests/targets/vendor.c ||
		fail "cannot compile: $compiler $*"
	rm -f "$W/vendor.a"
	ar rcs "$W/vendor.a" "$W/vendor.o"
}

# relink LINKER FLAG...: links $W/app.
relink() {
	# shellcheck disable=SC2046
	"$@" -o "$W/app" "$W/program.o" "$W/vendor.a" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
			of_runtime) -pthread \
		2>"$W/link" || fail "cannot link: $* $(tail -n 5 "$W/link")"
}

# app STATUS ARGUMENT...: runs $W/app. Its dumps go to $W/log, and its output to $W/out.
app() {
	wanted=$1
	shift
	rm -f "$W/log"
	# shellcheck disable=SC2086 # an emulator and its options
	LEAKWRAP_OPTIONS=log=$W/log:crash=1:children=all \
		timeout 60 $run "$W/app" "$@" >"$W/out" 2>"$W/err"
	got=$?
	[ $got = "$wanted" ] ||
		fail "$label: $*: status $got, wanted $wanted: $(tail -n 5 "$W/err")"
}

tried=0
expected=tests/targets/expected

# leaks LABEL: checks the leaks of $W/app, in a dump on request and at its end.
leaks() {
	label=$1
	app 0 leaks
	equal "$label: dumps" "$(dumps "$W/log" | wc -l)" 2
	equal "$label: reasons" \
		"$(dump_value "$W/log" 1 reason) $(dump_value "$W/log" 2 reason)" "signal exit"
	for number in 1 2; do
		as_expected "$label, dump $number" "$W/app" "$W/log@$number"
		equal "$label: lost" "$(dump_lines "$W/log" $number | sed -n 's/^loss //p')" \
			"$none_lost"
	done
	tried=$((tried + 1))
}

# everything LABEL: checks the leaks and the program's other modes.
everything() {
	leaks "$1"

	app 0 fork
	child=$(dumps "$W/log" | head -n 1)
	parent=$(dumps "$W/log" | tail -n 1)
	equal "$label: processes that dumped" "$(dumps "$W/log" | wc -l)" 2
	as_expected "$label, parent" "$W/app" "$W/log@$(echo "$parent" | tr . :)"
	as_expected "$label, child" "$W/app" "$W/log@$(echo "$child" | tr . :)" \
		"900 1 in_child@in-child fork_child@child main@fork"

	for function in execv execve execvp execl execlp execle; do
		app 0 exec $function
		equal "$label: $function" "$(cat "$W/out")" executed
		equal "$label: $function: dumps" "$(dumps "$W/log" | wc -l)" 1
	done

	app 0 wait
	equal "$label: dumps when waiting" "$(dump_value "$W/log" 1 reason)" signal

	app 0 levels

	app 139 crash # 128 and SIGSEGV
	equal "$label: the reason" "$(dump_value "$W/log" 1 reason)" crash
	equal "$label: the signal" "$(dump_value "$W/log" 1 signal)" 11
	equal "$label: the address" "$(dump_value "$W/log" 1 fault_address)" 0x10
	dump_lines "$W/log" 1 | grep -q '^registers ' || fail "$label: no registers"
	equal "$label: the crash" "$(crashed "$W/log" 1)" "store_one;vendor_store;main;"
}

# crashed LOG DUMP: prints the first three functions of the crash's call chain.
crashed() {
	dump_lines "$1" "$2" | awk '
		/^crash / { inside = 1; next }
		inside && /^  #[012] / { sub(/\+0x.*/, "", $3); printf "%s;", $3 }
		/^total / { exit }'
}
