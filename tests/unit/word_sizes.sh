#!/bin/sh
# Call-site table and slots work with smaller words, and with return addresses that have flag bits.
# So do the rules for pointers into blocks.
#
# The table is filled only where the processor is not emulated. UNIT_LONG=1 fills it everywhere.
# timeout: 300
. tests/lib.sh
. tests/unit/unit_needs.sh

make -s O="$O" "$O/include/uthash.h" || fail "no uthash.h"
# Sources of the runtime are those of the runtime for TRIPLE, which other tests build, too.
compile() {
	if [ "${3#wrap/}" != "$3" ]; then
		ln -s "$O/targets/$1/${3%.c}.o" "$2"
		return
	fi
	# shellcheck disable=SC2086 # one or none
	"$1-gcc" -std=gnu11 -O1 $emulated -Wall -Wextra -Werror -D_GNU_SOURCE \
		-I"$O/include" -I. -Iwrap -c -o "$2" "$3" 2>"$2.err" ||
		fail "cannot compile $3 for $1: $(cat "$2.err")"
}

# runs_here TRIPLE: returns whether this processor runs programs for TRIPLE.
runs_here() {
	echo 'int main(void) { return 0; }' | "$1-gcc" -static -o "$W/empty" -x c - &&
		"$W/empty" 2>"$W/errors"
}

# unit_for TRIPLE QEMU: builds the units for TRIPLE, and runs them.
unit_for() {
	command -v "$1-gcc" >/dev/null || skip "$1-gcc is not installed"
	runtime "$1" CROSS_COMPILE="$1-"
	run='' emulated=''
	if ! runs_here "$1"; then
		command -v "$2" >/dev/null || skip "$2 is not installed"
		run=$2
		[ -n "${UNIT_LONG-}" ] || emulated=-DUNIT_IS_EMULATED
	fi
	for unit in site_table slot_layout header_rules allocator_rules part_rules offset_rules; do
		unit=tests/unit/$unit.c
		# shellcheck disable=SC2046 # a list
		compile_objects "$1" "$unit" $(unit_need "$unit" sources)
		# shellcheck disable=SC2086 # a list
		"$1-gcc" -static -o "$W/unit" $objects -pthread 2>"$W/link" ||
			fail "cannot link $unit for $1: $(cat "$W/link")"
		$run "$W/unit" >"$W/out" 2>&1 ||
			fail "$unit, $1: status $?: $(head -n 20 "$W/out")"
	done
}

unit_for i686-linux-gnu qemu-i386
unit_for arm-linux-gnueabihf qemu-arm
unit_for aarch64-linux-gnu qemu-aarch64
