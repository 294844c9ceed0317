#!/bin/sh
# On RISC-V 64, whose compilers write no unwind tables for C by default, every call site is found.
. tests/lib.sh
. tests/targets/target.sh

target riscv64-linux-gnu qemu-riscv64

program "$gcc" -funwind-tables
vendor "$gcc" -funwind-tables
for how in "" -no-pie -static; do
	# shellcheck disable=SC2086 # none or one
	relink "$gcc" $how
	everything "gcc with tables $how"
done

program "$gcc" -fno-omit-frame-pointer
vendor "$gcc" -fno-omit-frame-pointer
relink "$gcc"
leaks "gcc, frame pointers alone"

program "$gcc"
vendor "$gcc"
for how in "" -static; do
	# shellcheck disable=SC2086
	relink "$gcc" $how
	everything "gcc $how"
done
echo "$tried programs"
