#!/bin/sh
# On each target an allocation's stack and the runtime's size are at most what leakwrap(7) says.
# timeout: 900
. tests/lib.sh
. tests/targets/target.sh

manual_text wrap/man/leakwrap.7 >"$W/manual"
promised=$(sed -n 's/^ *An allocation takes at most \([0-9]*\) KiB of the thread.s stack.*/\1/p' \
	"$W/manual")
[ -n "$promised" ] || fail "leakwrap(7) does not say what an allocation takes"
promised_code=$(sed -n 's/^ *The runtime adds \([0-9]*\) to \([0-9]*\) KiB of code.*/\1 \2/p' \
	"$W/manual")
[ -n "$promised_code" ] || fail "leakwrap(7) does not say how large the runtime is"

# footprint NAME COMPILER: measures the target of COMPILER. $lib and $run are the target's.
footprint() {
	# shellcheck disable=SC2046,SC2086 # lists
	{
		$2 $TARGET_CFLAGS -o "$W/plain" tests/targets/footprint.c -static -pthread &&
			$2 $TARGET_CFLAGS -o "$W/traced" tests/targets/footprint.c -static \
				$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
					of_runtime) -pthread
	} 2>"$W/link" || fail "$1: $(tail -n 5 "$W/link")"
	plain=$($run "$W/plain") || fail "$1: the plain program: status $?"
	traced=$(LEAKWRAP_OPTIONS=exit=0 $run "$W/traced") || fail "$1: status $?"
	code=$(size "$W/traced" "$W/plain" | awk '
		NR > 1 { size[NR] = $1 }
		END { print size[2] - size[3] }')
	echo "$1: stack $traced bytes, $plain untraced; code $code bytes"
	[ "$traced" -le $((promised * 1024)) ] ||
		fail "$1: an allocation takes $traced bytes of the stack"
	if [ "$code" -lt $((${promised_code% *} * 1024)) ] ||
		[ "$code" -gt $((${promised_code#* } * 1024)) ]; then
		fail "$1: leakwrap(7) says that the runtime has $promised_code KiB"
	fi
	tried=$((tried + 1))
}

lib=$O/libleakwrap.a run=
footprint x86-64 gcc
for one in i686-linux-gnu:qemu-i386 arm-linux-gnueabihf:qemu-arm aarch64-linux-gnu:qemu-aarch64 \
	riscv64-linux-gnu:qemu-riscv64; do
	triple=${one%:*} run=${one#*:}
	{ command -v "$triple-gcc" && command -v "$run"; } >/dev/null || {
		echo "$triple is left out: no compiler or no emulator"
		continue
	}
	runtime "$triple" CROSS_COMPILE="$triple-"
	footprint "$triple" "$triple-gcc"
done
