#!/bin/sh
# A report says what a program died of, in every format.
#
# The crashes are real ones, here and on another machine, and damaged ones. The report shows the
# interrupted instruction itself, which is no return address.
# timeout: 300
# shellcheck disable=SC2016
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

program=tests/unwind/crash_trace.c
line_of() {
	grep -n -F "$1" $program | head -n 1 | cut -d : -f 1
}

# crash COMMAND...: runs a command that dies, and leaves its dump in $W/log.
crash() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=crash=1:exit=0:log=$W/log sh -c '"$@" >"$0/died" 2>&1' "$W" "$@" \
		2>/dev/null && fail "$* lives"
	dump_is_whole "$W/log" 1 || fail "no whole dump of $*: $(cat "$W/died")"
}

# Prints the report's first lines, up to the totals.
told() {
	awk '/ live in / { exit } { print }' "$W/out"
}

# in_order PATTERN...: fails unless the lines of told match the patterns, one after the other.
in_order() {
	told >"$W/told"
	for pattern; do
		sed -n "\\|$pattern|,\$p" "$W/told" | sed 1d >"$W/rest"
		grep -q -- "$pattern" "$W/told" || fail "no '$pattern' in its place: $(told)"
		mv "$W/rest" "$W/told"
	done
}

validator() {
	[ -x "$W/validate" ] ||
		${HOSTCC:-cc} -std=gnu11 -O1 -Wall -Wextra -o "$W/validate" tests/tool/validate.c \
			-ljansson ||
		fail "cannot build the validator"
	"$W/validate" tests/tool/report.schema.json "$W/out" || fail "$1: $(head -n 3 "$W/out")"
}

# same_registers WHAT: the JSON has the same registers as the dump.
same_registers() {
	dump_lines "$W/log" 1 | sed -n 's/^registers //p' | tr ' ' '\n' >"$W/wanted"
	[ -s "$W/wanted" ] || fail "$1: the dump has no registers"
	sed -n 's/.*"registers":{\([^}]*\)}.*/\1/p' "$W/out" | tr ',' '\n' |
		sed 's/"//g; s/:/=/' >"$W/got"
	cmp -s "$W/wanted" "$W/got" || fail "$1: $(diff "$W/wanted" "$W/got")"
}

# -- real crashes ----------------------------------------------------------------------------------
for static in "" -static; do
	# shellcheck disable=SC2086 # none or one
	build crash $static -Wl,--build-id $program
	# Without debug information newer versions of glibc do not tell the name of what kills.
	while IFS='|' read -r how cause statement frame; do
		crash "$W/crash" "$how"
		status_is 0 "$lw" report "$W/log"
		[ ! -s "$W/err" ] || fail "$how$static: $(cat "$W/err")"
		shows ', dump 1 at a crash, '
		line=$(line_of "$statement")
		in_order "^  died of $cause in thread [0-9]*\$" ${frame:+"^      $frame"} \
			"^      fails  *.*/crash_trace.c:$line\$" \
			'^      caller  *.*/crash_trace.c:' '^      main  *.*/crash_trace.c:' \
			'^  *[a-z0-9]* 0x[0-9a-f]*  ' '^$'
		shows '^  #[0-9]* 100 bytes in 1 block, '
		status_is 0 "$lw" report -f json "$W/log"
		validator "$how$static"
		signal=$(dump_value "$W/log" 1 signal) code=$(dump_value "$W/log" 1 code)
		shows "\"crash\":{\"signal\":$signal,\"code\":$code,"
		shows "\"thread\":$(dump_value "$W/log" 1 thread),"
		same_registers "$how$static"
	done <<-'ROWS'
		SEGV|SIGSEGV (code 1, SEGV_MAPERR) at address 0x0|return *nowhere + 1;|
		jump|SIGSEGV (code 1, SEGV_MAPERR) at address 0x0|no_function();|?  *0x0$
		FPE|SIGFPE (code 1, FPE_INTDIV) at address 0x[0-9a-f]*|return number / zero;|
		ABRT|SIGABRT (code -6, SI_TKILL)|abort();|[a-z_]*[k?]
		ILL|SIGILL (code 2, ILL_ILLOPN) at address 0x[0-9a-f]*|__builtin_trap();|
		TRAP|SIGTRAP (code -6, SI_TKILL)|raise(SIGTRAP);|[a-z_]*[k?]
		BUS|SIGBUS (code -6, SI_TKILL)|raise(SIGBUS);|[a-z_]*[k?]
	ROWS

	# The innermost frame is the instruction pointer. Another tool finds the same line there.
	crash "$W/crash" FPE
	status_is 0 "$lw" report -f json "$W/log"
	rip=$(dump_lines "$W/log" 1 | sed -n 's/^registers .*[re]ip=\(0x[0-9a-f]*\).*/\1/p')
	shows "\"frames\":\[{\"address\":\"$rip\",\"module\":\"$W/crash\""
	offset=$(sed 's/.*"crash":[^[]*\[{[^}]*"offset":"\(0x[0-9a-f]*\)".*/\1/' "$W/out" |
		grep -m 1 '^0x')
	found=$(addr2line -e "$W/crash" "$offset" | sed 's/.*:\([0-9]*\).*/\1/')
	equal "innermost line$static" "$found" \
		"$(line_of 'return number / zero;')"
	function='"function":"fails","file":"[^"]*"'
	shows "\"offset\":\"$offset\",[^}]*$function,\"line\":$found,"
	shows '"fault_address":"'"$rip"'"'

	# abort has no fault address.
	crash "$W/crash" ABRT
	status_is 0 "$lw" report -f json "$W/log"
	shows '"signal":6,"code":-6,"fault_address":null,'

	# A dump at a crash is a dump of live blocks, too.
	status_is 1 "$lw" report --fail-on-leaks "$W/log"
	status_is 0 "$lw" report --last "$W/log"
	shows '  died of SIGABRT'
	status_is 0 "$lw" report --by=function "$W/log"
	shows '  died of SIGABRT'
	status_is 0 "$lw" report -f html "$W/log"
	shows '"crash":{"cause":"SIGABRT (code -6, SI_TKILL) in thread [0-9]*","frames":\[[0-9]'
done

# The report reads the whole stack that overflowed.
crash "$W/crash" overflow
status_is 0 "$lw" report "$W/log"
overflowed=': its stack has probably overflowed$'
in_order "^  died of SIGSEGV (code [12], SEGV_...ERR) at address .* in thread [0-9]*$overflowed" \
	'^      overflow ' '^      overflow '

# Formats and commands for memory alone do not change.
crash "$W/crash" SEGV
sed '/\] crash /d; /\] registers /d; s/reason=crash/reason=api/' "$W/log" |
	awk '/\] total / { past = 1 } past || ! /\]   #/' >"$W/silent"
for format in folded pprof; do
	status_is 0 "$lw" report -f $format "$W/log"
	mv "$W/out" "$W/with"
	"$lw" report -f $format "$W/silent" 2>/dev/null | cmp -s - "$W/with" ||
		fail "$format tells of the crash"
done
for format in text json; do
	# In the other order, one dump would be there twice.
	status_is 0 "$lw" diff -f $format "$W/silent" "$W/log"
	shows_not 'SIGSEGV'
	shows_not '"registers"'
done
printf 'leak:fails\n' >"$W/suppressions"
status_is 0 "$lw" report --suppressions="$W/suppressions" "$W/log"
said 'leak:fails suppresses nothing'

# -- the interrupted instruction -------------------------------------------------------------------
# One address means the first instruction of a function if it was interrupted there, and the
# function before it if a call returns there.
# gcc would put main first; clang would align functions.
case $($CC --version) in
*clang*) packed=-Os ;;
*) packed=-fno-reorder-functions ;;
esac
# shellcheck disable=SC2086 # one or none
build_plain chain tests/tool/chain.c -Wl,--build-id -no-pie -falign-functions=1 $packed
start=0x$(nm "$W/chain" | sed -n 's/^0*\([0-9a-f]*\) T open_shop$/\1/p')
echo "100 1 complete $start" |
	make_dump 7.1 2026-11-20T18:36:01Z "$W/chain" 0x0 "$(build_id "$W/chain")" |
	sed "s/reason=signal/reason=crash/; s/lines=.*/lines=13 dump_ns=1/
		1a leakwrap[7.1] crash signal=11 code=2 fault_address=0x10 thread=8
		1a leakwrap[7.1] registers r0=0x1 r10=0xffffffff12345678 sp=0x7f00
		1a leakwrap[7.1] registers pc=$start
		1a leakwrap[7.1]   #0 $start ? [1] chain+$start" >"$W/plain"
status_is 0 "$lw" report "$W/plain"
[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
in_order '^  died of SIGSEGV (code 2, SEGV_ACCERR) at address 0x10 in thread 8$' \
	'^      open_shop  *.*/chain.c:19$' \
	'^       r0 0x1                 r10 0xffffffff12345678   sp 0x7f00               pc 0x'
equal "the function before it" "$(awk '/^  #1/ { getline; print $1 }' "$W/out")" make_basket

# -- damage ----------------------------------------------------------------------------------------
# damage WHAT LINE MESSAGE CAUSE FRAMES REGISTERS: the report of $W/log has one message, and what is
# whole.
damage() {
	status_is 0 "$lw" report "$W/log"
	equal "$1: messages" "$(wc -l <"$W/err")" 1
	said "log:$2: dump 7.1 is damaged: $3"
	in_order "^  died of $4"
	equal "$1: frames" "$(told | grep -c 'open_shop')" "$5"
	equal "$1: registers" "$(told | tr ' ' '\n' | grep -c -x 'r0\|r10\|sp\|pc')" "$6"
	equal "$1: call sites" "$(grep -c '^  #1' "$W/out")" 1
	equal "$1: the call site's stack" "$(awk '/^  #1/ { getline; print $1 }' "$W/out")" \
		make_basket
	status_is 0 "$lw" report -f json "$W/log"
	validator "$1"
}
known='SIGSEGV (code 2, SEGV_ACCERR) at address 0x10 in thread 8$'
sed '2d' "$W/plain" >"$W/log"
damage "a lost crash line" 12 'lines of it are missing' 'an unknown signal$' 1 4
shows '"crash":{"signal":null,"code":null,"fault_address":null,'
sed '2s/signal=11/signal=1x/' "$W/plain" >"$W/log"
damage "a damaged signal" 2 'what it died of is damaged' 'an unknown signal$' 1 4
sed '2s/code=2//' "$W/plain" >"$W/log"
damage "a lost code" 2 'what it died of is damaged' 'an unknown signal$' 1 4
sed '2s/0x10/0x1g/' "$W/plain" >"$W/log"
damage "a damaged address" 2 'what it died of is damaged' \
	'SIGSEGV (code 2, SEGV_ACCERR) in thread 8$' 1 4
sed '2s/thread=8/thread=8x/' "$W/plain" >"$W/log"
damage "a damaged thread" 2 'what it died of is damaged' \
	'SIGSEGV (code 2, SEGV_ACCERR) at address 0x10$' 1 4
sed '3s/r10=0x/r10=/' "$W/plain" >"$W/log"
damage "a damaged register" 3 'a register is damaged' "$known" 1 3
sed '3s/r10=0x/"=0x/' "$W/plain" >"$W/log"
damage "a damaged name" 3 'a register is damaged' "$known" 1 3
sed '3d' "$W/plain" >"$W/log"
damage "lost registers" 12 'lines of it are missing' "$known" 1 1
sed '5d' "$W/plain" >"$W/log"
damage "a lost frame" 12 'lines of it are missing' "$known" 0 4
sed '5s/#0/#1/' "$W/plain" >"$W/log"
damage "a frame of another number" 5 'a frame is missing or out of order' "$known" 0 4
sed '5s/+0x/+0y/' "$W/plain" >"$W/log"
damage "a damaged frame" 5 'a frame is damaged' "$known" 0 4
sed '5s/+0x.*/+0x1/' "$W/plain" >"$W/log"
damage "a frame beside its module" 1 'an address does not fit its module' "$known" 0 4
sed '1s/reason=crash/reason=crush/' "$W/plain" >"$W/log"
damage "a damaged reason" 1 'its first line is damaged' "$known" 1 4
sed '1d' "$W/plain" >"$W/log"
damage "a lost first line" 1 'its first line is missing' "$known" 1 4
awk 'NR == 3 { printf "%s", substr($0, 1, 40); next } { print }' "$W/plain" >"$W/log"
damage "a cut line" 3 'a line of it is cut' "$known" 1 1
awk 'NR == 2 || NR == 3 { held = held $0 "\n"; next }
	{ print }
	NR == 10 { printf "%s", held }' "$W/plain" >"$W/log"
damage "its lines behind a call site" 9 'a line of the crash is out of order' \
	'an unknown signal$' 1 1

# If the tracer's tables are damaged, too, the dump has the crash alone.
head -n 5 "$W/plain" >"$W/log"
status_is 0 "$lw" report "$W/log"
in_order '^  died of SIGSEGV' '^      open_shop  *.*/chain.c:19$'
said 'chain is not verified: the dump has no build-id of it'
shows 'its totals are missing'
status_is 2 "$lw" report --fail-on-leaks "$W/log"
sed -n 2p "$W/plain" >"$W/log"
status_is 0 "$lw" report "$W/log"
shows 'died of SIGSEGV'

# No signal here has these numbers.
sed '2s/signal=11 code=2/signal=64 code=-60/' "$W/plain" >"$W/log"
status_is 0 "$lw" report "$W/log"
shows '^  died of signal 64 (code -60) at address 0x10 in thread 8$'

# A task of an RTOS may have any name.
sed '2s/thread=8/& task=control\\x20loop\\x1b[1m/' "$W/plain" >"$W/log"
status_is 0 "$lw" report "$W/log"
[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
shows '^  died of SIGSEGV (code 2, .*) at address 0x10 in thread 8, task control loop?\[1m$'
status_is 0 "$lw" report -f json "$W/log"
validator "a task"
shows '"thread":8,"task":"control loop\\u001[bB]\[1m","registers":'

# -- another machine -------------------------------------------------------------------------------
for machine in aarch64-linux-gnu:qemu-aarch64:aarch64 riscv64-linux-gnu:qemu-riscv64:riscv64 \
	i686-linux-gnu:qemu-i386:i386 arm-linux-gnueabihf:qemu-arm:arm; do
	header=wrap/arch/${machine##*:}.h qemu=${machine#*:} machine=${machine%%:*}
	qemu=${qemu%:*}
	{
		command -v "$machine-gcc" && command -v "$qemu" &&
			grep LEAKWRAP_CONTEXT_REGISTERS "$header"
	} >/dev/null || continue
	runtime "$machine" CROSS_COMPILE="$machine-"
	for static in "" -static; do
		# shellcheck disable=SC2046,SC2086 # flags
		$machine-gcc $CFLAGS_FOR_TESTS $static -o "$W/foreign" $program \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
				of_runtime) \
			-pthread -Wl,--build-id 2>"$W/ld" ||
			fail "$machine $static: $(tail -n 5 "$W/ld")"
		crash "$qemu" -L "/usr/$machine" "$W/foreign" SEGV
		status_is 0 "$lw" report --sysroot="/usr/$machine" --exe="$W/foreign" "$W/log"
		shows_not damaged
		in_order '^  died of SIGSEGV (code 1, SEGV_MAPERR) at address 0x0 in thread ' \
			"^      fails  *.*/crash_trace.c:$(line_of 'return *nowhere + 1;')\$" \
			'^      caller  *.*/crash_trace.c:' \
			'^      main  *.*/crash_trace.c:' '^  *[a-z0-9]* 0x[0-9a-f]*  '
		status_is 0 "$lw" report -f json --exe="$W/foreign" "$W/log"
		validator "$machine$static"
		same_registers "$machine$static"
	done
	rm -rf "$lib"
	echo "machine: $machine"
	exit 0
done
echo "left out: no cross compiler with its qemu is installed"
