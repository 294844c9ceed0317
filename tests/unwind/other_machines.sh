#!/bin/sh
# Walks on other architectures, under emulation, are equal to libgcc's.
#
# The traces are those of tests/unwind/stacks.c. Compilers of ARM and RISC-V write unwind tables
# only on request.
# timeout: 900
. tests/lib.sh

export LEAKWRAP_OPTIONS=exit=0:signal=none:depth=256
wrap=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--eh-frame-hdr
ran=0

# machine TRIPLE QEMU HOW...: builds the runtime and the programs, and runs them.
machine() {
	triple=$1 qemu=$2
	shift 2
	if ! command -v "$triple-gcc" >/dev/null || ! command -v "$qemu" >/dev/null; then
		echo "$triple: no compiler or no emulator"
		return
	fi
	CC=$triple-gcc
	runtime "$triple" CROSS_COMPILE="$triple-"
	# shellcheck disable=SC2086 # lists
	build_plain $triple.o -c $program_flags -fomit-frame-pointer tests/unwind/stacks.c
	for how; do
		flag=-$how
		[ "$how" != dynamic ] || flag=
		# shellcheck disable=SC2086
		build_plain "$triple-$how" "$W/$triple.o" tests/unwind/compare.c $runtime_flags \
			"$lib" $flag $wrap 2>"$W/log"
		"$qemu" -L "/usr/$triple" "$W/$triple-$how" none none >"$W/out" 2>&1 ||
			fail "$triple $how: $(head -n 40 "$W/out")"
		echo "$triple $how: $(tail -n 1 "$W/out")"
		"$qemu" -L "/usr/$triple" "$W/$triple-$how" garbage 300 ||
			fail "$triple $how: garbage, status $?"
		ran=$((ran + 1))
	done
}

program_flags='' runtime_flags=''
machine aarch64-linux-gnu qemu-aarch64 dynamic static static-pie
# qemu-i386 does not end dynamic programs with threads.
machine i686-linux-gnu qemu-i386 static static-pie
program_flags=-funwind-tables runtime_flags="-ffixed-r7 -ffixed-r11 -fomit-frame-pointer"
machine arm-linux-gnueabihf qemu-arm dynamic
machine arm-linux-gnueabi qemu-arm dynamic
[ $ran -gt 0 ] || skip "no cross compiler with an emulator"
