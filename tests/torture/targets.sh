#!/bin/sh
# On ARM and AArch64 under emulation, and with musl, static and dynamic, torture finds the same bugs
# as here.
# timeout: 400
. tests/lib.sh
. tests/tool/tool.sh

# torture_with COMPILER FLAG...: builds the program with the bugs, and tortures it by $run.
torture_with() {
	# shellcheck disable=SC2046,SC2086 # lists of flags
	"$@" -std=gnu11 -O2 -g -fno-builtin -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		-D_GNU_SOURCE -I. -funwind-tables -o "$W/bugs" tests/tool/torture.c \
		tests/tool/torture_library.c \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
			of_runtime) 2>"$W/link" ||
		fail "$*: $(tail -n 3 "$W/link")"
	# shellcheck disable=SC2086
	"$lw" torture --timeout=3 --below=torture.c -- $run "$W/bugs" leak,null,retry >"$W/out" \
		2>"$W/err"
	equal "$*: status: $(cat "$W/err")" $? 1
	shows '^  3 findings$'
	for finding in 'leak of 40 bytes in 1 block$' 'crash, SIGSEGV' 'hang$'; do
		shows "^  #[0-9] $finding"
	done
	grep -A 1 '^  #[0-9] leak' "$W/out" | grep -q 'leak_on_error .*torture.c:' ||
		fail "$*: $(cat "$W/out")"
	grep -A 2 '^  #[0-9] crash' "$W/out" | grep -q 'write_to_null .*torture.c:' ||
		fail "$*: $(cat "$W/out")"
	tried=$((tried + 1))
}

tried=0
for target in 'arm-linux-gnueabihf qemu-arm' 'aarch64-linux-gnu qemu-aarch64'; do
	triple=${target% *} qemu=${target#* }
	command -v "$triple-gcc" "$qemu" >/dev/null || continue
	runtime "$triple" CROSS_COMPILE="$triple-"
	run="$qemu -L /usr/$triple"
	torture_with "$triple-gcc"
	torture_with "$triple-gcc" -static
	shows ' 0 by fork, ' # the emulator cannot
done
if command -v musl-gcc >/dev/null; then
	runtime x86_64-linux-musl CC=musl-gcc
	run=
	torture_with musl-gcc
	torture_with musl-gcc -static
	shows ' 0 by rerun; '
fi
[ $tried -gt 0 ] || skip "no other compiler is installed"
