#!/bin/sh
# Stacks through frames of 4 to 70 KB, in code without tables and frame pointers, are complete.
#
# On AArch64 this also holds for larger frames, whose pages a loop touches, and for code that tracks
# speculation: it masks sp before each call.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

# walks COMMAND SIZES COMPILER...: builds a program of all sizes and runs it by COMMAND, which may
# be empty. $lib is the runtime. $linker links it, else the compiler does.
walks() {
	run=$1 sizes=$2
	shift 2
	# shellcheck disable=SC2086 # a list
	runs=$(printf 'RUN(%s)' $sizes)
	for level in -O0 -O1 -O2 -Os; do
		objects='' wanted=0
		for size in $sizes main; do
			case $size in
			main) part="-DSIZES=$runs" ;;
			*) part=-DSIZE=$size ;;
			esac
			"$@" $level -std=gnu11 -I. "$part" -fno-unwind-tables \
				-fno-asynchronous-unwind-tables -fomit-frame-pointer \
				-c -o "$W/$size.o" tests/unwind/large_frames.c ||
				fail "$* $level, $size: cannot compile"
			objects="$objects $W/$size.o"
		done
		# shellcheck disable=SC2046,SC2086 # lists of flags
		${linker:-$*} -static -o "$W/large" $objects \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) ||
			fail "$* $level: cannot link"
		# shellcheck disable=SC2086 # a command or none
		LEAKWRAP_OPTIONS=log=$W/log $run "$W/large" >"$W/out" ||
			fail "$* $level: status $?"
		dump_sites "$W/log" 1 | grep '[ ;]read_line_[0-9]*;' >"$W/sites"
		rm "$W/log"
		for size in $sizes; do
			stack="read_line_$size;parse_$size;load_$size;run_$size;main;"
			equal "$* $level, $size: call sites" \
				"$(grep -c " [0-9]* [a-z]* $stack" "$W/sites")" 2
			wanted=$((wanted + 2))
		done
		equal "$* $level: call sites" "$(wc -l <"$W/sites")" $wanted
	done
}

usual="1000 4100 6000 20000 65000 70000"
lib=$O/libleakwrap.a
walks '' "$usual" "$CC"
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	runtime aarch64-linux-gnu CROSS_COMPILE=aarch64-linux-gnu-
	walks qemu-aarch64 "$usual" aarch64-linux-gnu-gcc
	walks qemu-aarch64 "6000 400000" aarch64-linux-gnu-gcc -fstack-clash-protection
	walks qemu-aarch64 "6000" aarch64-linux-gnu-gcc -mtrack-speculation
fi
if command -v riscv64-linux-gnu-gcc >/dev/null && command -v qemu-riscv64 >/dev/null; then
	runtime riscv64-linux-gnu CROSS_COMPILE=riscv64-linux-gnu-
	walks qemu-riscv64 "$usual" riscv64-linux-gnu-gcc
	walks qemu-riscv64 "$usual" riscv64-linux-gnu-gcc -msave-restore
	# clang takes start files of a compiler for bare metal if there is one.
	linker=riscv64-linux-gnu-gcc
	! command -v clang >/dev/null ||
		walks qemu-riscv64 "$usual" clang --target=riscv64-linux-gnu
fi
