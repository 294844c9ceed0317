#!/bin/sh
# On i386 every call site is found, by this machine's own kernel or by the emulator.
. tests/lib.sh
. tests/targets/target.sh

target i686-linux-gnu qemu-i386
# The loader must not take i386 libraries of this machine.
loader="-Wl,--dynamic-linker=/usr/$triple/lib/ld-linux.so.2,-rpath,/usr/$triple/lib"
echo 'int main(void) { return 0; }' >"$W/native.c"
$gcc "$loader" -o "$W/native" "$W/native.c" || fail "cannot link"
if "$W/native" 2>/dev/null; then
	run=
fi

program "$gcc"
vendor "$gcc"
for how in "$loader" -static -static-pie; do
	relink "$gcc" "$how"
	everything "gcc $how"
done

# Most 32-bit archives have code for one address, without -fpic.
vendor "$gcc" -fno-pie
relink "$gcc" "$loader" -no-pie
everything "gcc -no-pie"
vendor "$gcc"

# With 64-bit time the C library has other names for the functions that take a time.
program "$gcc" -D_TIME_BITS=64 -D_FILE_OFFSET_BITS=64
for how in "$loader" -static; do
	relink "$gcc" "$how"
	everything "gcc, 64-bit time, $how"
done

if command -v clang >/dev/null; then
	program clang --target="$triple"
	vendor clang --target="$triple"
	relink "$gcc" "$loader"
	leaks "clang"
fi
echo "$tried programs${run:+ by $run}"
