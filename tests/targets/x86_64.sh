#!/bin/sh
# On x86-64 with glibc every call site is found, by gcc and clang.
#
# The vendor's archive has unwind tables, or frame pointers, or neither.
. tests/lib.sh
. tests/targets/target.sh

lib=$O/libleakwrap.a
tables="-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions"

for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	program $compiler
	vendor $compiler
	for how in -pie -no-pie -static -static-pie; do
		relink "$compiler" $how
		everything "$compiler $how"
	done
	# This runs not everything: where a fault interrupts a prologue, frame pointers do not lead
	# to the caller.
	# shellcheck disable=SC2086 # flags
	vendor $compiler $tables -fno-omit-frame-pointer
	relink "$compiler"
	leaks "$compiler, frame pointers alone"
done

# shellcheck disable=SC2086
vendor gcc $tables
relink gcc
leaks "gcc, without tables"
echo "$tried programs"
