#!/bin/sh
# The dump of a program that ran traced under qemu is read here.
#
# The program is static or dynamic. The machine's files lie under a sysroot, and the program's
# symbols beside it.
# timeout: 400
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh

tried=
for machine in aarch64-linux-gnu:qemu-aarch64 arm-linux-gnueabihf:qemu-arm \
	arm-linux-gnueabi:qemu-arm i686-linux-gnu:qemu-i386 riscv64-linux-gnu:qemu-riscv64; do
	qemu=${machine#*:}
	machine=${machine%:*}
	{ command -v "$machine-gcc" && command -v "$qemu"; } >/dev/null || continue
	runtime "$machine" CROSS_COMPILE="$machine-"
	for static in "" -static; do
		rm -rf "$W/sysroot" "$W/log"
		mkdir -p "$W/sysroot/opt" "$W/host"
		# shellcheck disable=SC2046,SC2086 # flags
		$machine-gcc -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls $static \
			-o "$W/host/app" \
			tests/tool/leaky.c $(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
				of_runtime) \
			-Wl,--build-id 2>"$W/ld" ||
			fail "$machine $static: $(tail -n 5 "$W/ld")"
		# The device has the stripped program.
		"$machine-strip" -o "$W/sysroot/opt/app" "$W/host/app"
		LEAKWRAP_OPTIONS=log="$W/log" $qemu -L "/usr/$machine" "$W/sysroot/opt/app" \
			2>"$W/err" ||
			fail "$machine $static: does not run: $(cat "$W/err")"
		sed "s|$W/sysroot/|/|" "$W/log" >"$W/device"
		status_is 0 "$lw" report --sysroot="$W/sysroot" --debug-dir="$W/host" "$W/device"
		shows 'keep_inlined  *.*/tests/tool/leaky.c:11 (inlined)'
		shows 'make_basket  *.*/tests/tool/leaky.c:16'
		shows 'fill_cache  *.*/tests/tool/leaky.c:30'
		shows 'open_shop  *.*/tests/tool/leaky.c:23'
		shows_not 'damaged'
		tried="$tried $machine$static"
	done
done
[ -n "$tried" ] || skip "no cross compiler with its qemu is installed"
echo "machines:$tried"
