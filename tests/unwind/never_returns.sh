#!/bin/sh
# Stacks through functions that never return, in code without tables, are walked.
#
# The walk learns the frame from how the function built it, or from a routine that it begins with
# (RISC-V, -msave-restore). The code behind its last call does not count. If no code describes the
# frame, the walk searches the stack.
# timeout: 600
. tests/lib.sh

# machine TRIPLE QEMU: builds the runtime and sets the target of the next programs. Fails if the
# compiler or the emulator is missing.
machine() {
	triple=$1 qemu=$2
	if ! command -v "$triple-gcc" >/dev/null || ! command -v "$qemu" >/dev/null; then
		echo "$triple: no compiler or no emulator"
		return 1
	fi
	runtime "$triple" CROSS_COMPILE="$triple-"
}

ran=0
# walks FLAG...: builds the program with the flags and runs it.
walks() {
	"$triple-gcc" -std=gnu11 -Wall -Wextra -I. -Iwrap -fno-unwind-tables \
		-fno-asynchronous-unwind-tables -fno-pie -fno-toplevel-reorder "$@" \
		-static -o "$W/never" tests/unwind/never_returns.c "$lib" ||
		fail "$triple: cannot link: $*"
	GMON_OUT_PREFIX=$W/gmon LEAKWRAP_OPTIONS=exit=0 "$qemu" "$W/never" >"$W/out" 2>&1 ||
		fail "$triple $*: $(cat "$W/out")"
	ran=$((ran + 1))
}

if machine arm-linux-gnueabihf qemu-arm; then
	for code in -marm -mthumb; do
		walks $code -O2
		walks $code -O1 -fno-omit-frame-pointer
		walks $code -O0
		walks $code -O2 -pg
	done
fi
if machine riscv64-linux-gnu qemu-riscv64; then
	walks -O2
	walks -O0
	walks -Os -msave-restore
	walks -Os -msave-restore -Wl,--no-relax
fi
[ $ran -gt 0 ] || skip "no cross compiler with an emulator"
