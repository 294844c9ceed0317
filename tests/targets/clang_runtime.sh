#!/bin/sh
# The tracer that clang has compiled finds every call site on other processors, and follows a crash.
#
# clang cannot keep ARM's frame pointers out of the tracer's code. The programs are gcc's. With
# ALL_TARGETS=1 there are also a soft-float ARM, i386 and RISC-V.
# timeout: 600
. tests/lib.sh
. tests/targets/target.sh

command -v clang >"$W/which" || skip "clang is not installed"

# by_clang TRIPLE EMULATOR [FLAG...]: tests the runtime that clang compiles for TRIPLE with FLAGs.
by_clang() {
	triple=$1 run=
	if ! command -v "$triple-gcc" >"$W/which" || ! command -v "${2:-true}" >"$W/which"; then
		echo "left out: no $triple-gcc or no $2"
		return
	fi
	[ -z "$2" ] || run="$2 -L /usr/$triple"
	shift 2
	runtime "clang-$triple" AR=ar \
		CC="clang --target=$triple -isystem /usr/$triple/include $*"
	program "$triple-gcc" -funwind-tables
	vendor "$triple-gcc" -funwind-tables
	relink "$triple-gcc"
	everything "$triple"
}

by_clang aarch64-linux-gnu qemu-aarch64
by_clang arm-linux-gnueabihf qemu-arm -mthumb
if [ -n "${ALL_TARGETS-}" ]; then
	by_clang arm-linux-gnueabi qemu-arm -march=armv6 # ARM code
	by_clang i686-linux-gnu ''
	by_clang riscv64-linux-gnu qemu-riscv64
fi
[ $tried -gt 0 ] || skip "no cross compiler"
echo "$tried processors"
