#!/bin/sh
# AArch64: gcc and clang, signed return addresses on a processor that checks them.
. tests/lib.sh
. tests/targets/target.sh

target aarch64-linux-gnu qemu-aarch64
run="qemu-aarch64 -cpu max -L /usr/$triple"
clang="clang --target=$triple"

for flags in "" -mbranch-protection=standard; do
	# shellcheck disable=SC2086 # none or one
	{
		program "$gcc" $flags
		vendor "$gcc" $flags
	}
	for how in "" -static -static-pie; do
		# shellcheck disable=SC2086
		relink "$gcc" $flags $how
		everything "gcc $flags $how"
	done
	if command -v clang >/dev/null; then
		# shellcheck disable=SC2086
		program $clang $flags
		# shellcheck disable=SC2086
		vendor $clang $flags
		relink "$gcc"
		leaks "clang $flags"
	fi
done
echo "$tried programs"
