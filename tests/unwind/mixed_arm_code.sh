#!/bin/sh
# A stack that mixes ARM code of all kinds is walked exactly, under emulation.
#
# The kinds are -mapcs-frame, gcc's and clang's frame pointers in ARM code, clang's frame pointers
# in Thumb code, and Thumb and ARM code with neither tables nor frame pointers. Chains of ARM code
# with frame pointers must be exact also by these alone. Thumb code may save r11 where its frame
# pointer does not say.
# timeout: 300
. tests/lib.sh

triple=arm-linux-gnueabihf
gcc=$triple-gcc
command -v $gcc >/dev/null || skip "$gcc is not installed"
command -v qemu-arm >/dev/null || skip "qemu-arm is not installed"
command -v clang >/dev/null || skip "clang is not installed"

runtime $triple CROSS_COMPILE=$triple-

# kind NAME ROOM COMPILER FLAG...: builds $W/NAME.o.
kind() {
	name=$1 room=$2
	shift 2
	"$@" -std=gnu11 -O2 -g -Wall -Wextra -I. -Iwrap -fno-optimize-sibling-calls \
		-fno-stack-protector -fno-exceptions \
		-fno-unwind-tables -fno-asynchronous-unwind-tables -DKIND="$name" -DROOM="$room" \
		-c -o "$W/$name.o" tests/unwind/mixed_arm_code.c || fail "cannot compile $name"
	! readelf -SW "$W/$name.o" | grep -q 'ARM.extab' || fail "$name has tables"
}

clang="clang --target=$triple -march=armv7-a"
# shellcheck disable=SC2086 # a compiler and its flags
for level in 1 2 s; do
	kind apcs 40 $gcc -marm -mapcs-frame -fno-omit-frame-pointer -O$level
	kind arm_gcc 17 $gcc -marm -fno-omit-frame-pointer -O$level
	kind arm_clang 300 $clang -marm -fno-omit-frame-pointer -O$level
	kind thumb_clang 8 $clang -mthumb -fno-omit-frame-pointer -O$level
	kind thumb_gcc 1000 $gcc -mthumb -fomit-frame-pointer -O$level
	kind arm_plain 3000 $gcc -marm -fomit-frame-pointer -O$level
	$gcc -std=gnu11 -O1 -marm -fno-omit-frame-pointer -Wall -Wextra -I. -Iwrap -o "$W/mixed" \
		tests/unwind/mixed_arm_code.c "$W"/apcs.o "$W"/arm_gcc.o "$W"/arm_clang.o \
		"$W"/thumb_clang.o "$W"/thumb_gcc.o "$W"/arm_plain.o \
		"$lib" || fail "cannot link"
	for way in "auto 6" "fp 3"; do
		# shellcheck disable=SC2086
		LEAKWRAP_OPTIONS=exit=0:unwind=${way% *} qemu-arm -L /usr/$triple \
			"$W/mixed" 500 ${way#* } >"$W/out" 2>&1 ||
			fail "-O$level, unwind=${way% *}: $(head -n 40 "$W/out")"
		echo "-O$level, unwind=${way% *}: $(cat "$W/out")"
	done
done
