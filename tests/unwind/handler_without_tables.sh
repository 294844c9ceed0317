#!/bin/sh
# A stack leads from a signal handler without tables to the code that the signal interrupted.
#
# It is complete if the handler returns, and on ARM also if it leaves by siglongjmp.
# timeout: 600
. tests/lib.sh

# walks WHAT RUN COMPILER FLAG...: builds the program and checks its stacks. RUN runs it.
walks() {
	what=$1 run=$2 compiler=$3
	shift 3
	# shellcheck disable=SC2046 # lists of flags
	$compiler -std=gnu11 -g -Wall -Wextra -fno-unwind-tables -fno-asynchronous-unwind-tables \
		"$@" -I. -o "$W/handler" tests/unwind/handler_without_tables.c \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) ||
		fail "$what $*: cannot link"
	rm -f "$W/log"
	# shellcheck disable=SC2086 # a command of several words
	LEAKWRAP_OPTIONS=log=$W/log $run "$W/handler" || fail "$what $*: status $?"
	dump_sites "$W/log" 1 >"$W/sites"
	grep -q '^33 1 complete on_returns;.*;trigger;main;' "$W/sites" ||
		fail "$what $*: $(cat "$W/sites")"
	# Elsewhere the code of a function that never returns does not show its frame.
	case $what in
	arm-*)
		grep -q '^44 1 complete on_leaves;.*;trigger;main;' "$W/sites" ||
			fail "$what $*: $(cat "$W/sites")"
		;;
	esac
}

lib=$O/libleakwrap.a
for size in -Os -O2 "-O1 -fno-omit-frame-pointer"; do
	# shellcheck disable=SC2086 # two flags
	walks native "" "$CC" $size
	# shellcheck disable=SC2086
	walks native "" "$CC" $size -static
done
for machine in "arm-linux-gnueabihf qemu-arm -marm" "arm-linux-gnueabihf qemu-arm -mthumb" \
	"arm-linux-gnueabi qemu-arm -mapcs-frame" "aarch64-linux-gnu qemu-aarch64 -O2" \
	"riscv64-linux-gnu qemu-riscv64 -O2"; do
	# shellcheck disable=SC2086 # words
	set -- $machine
	if ! command -v "$1-gcc" >/dev/null || ! command -v "$2" >/dev/null; then
		echo "left out: $1: no compiler or no emulator"
		continue
	fi
	runtime "$1" CROSS_COMPILE="$1-"
	walks "$1" "$2" "$1-gcc" "$3" -O2 -static
	walks "$1" "$2" "$1-gcc" "$3" -Os -static
done
