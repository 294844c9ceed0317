#!/bin/sh
# On each target an allocation's stack and the runtime's code and variables are at most what
# leakwrap(7) says.
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

stated='The runtime.s variables are \([0-9.]*\) MB of address space, \([0-9.]*\) MB with 32 bits'
promised_variables=$(sed -n "s/^ *$stated.*/\\1 \\2/p" "$W/manual")
[ -n "$promised_variables" ] || fail "leakwrap(7) does not say how large the variables are"
# variables_promised FILE: prints how many bytes of variables leakwrap(7) says for FILE's class.
variables_promised() {
	case $(readelf -h "$1") in
	*ELF32*) megabytes=${promised_variables#* } ;;
	*) megabytes=${promised_variables% *} ;;
	esac
	echo "$megabytes" | awk '{ printf "%d\n", $1 * 1000000 + 50000 }'
}

cat >"$W/small.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	void *volatile kept = malloc(10);
	free(kept);
	kept = strdup("kept");
	return printf("%p\n", kept) < 0;
}
END

# link_pair NAME COMPILER ARGUMENT...: links $W/plain and $W/traced, and compares their sizes with
# what leakwrap(7) says. $lib is the target's.
link_pair() {
	name=$1 compiler=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # lists
	{
		$compiler $TARGET_CFLAGS -o "$W/plain" "$@" &&
			$compiler $TARGET_CFLAGS -o "$W/traced" "$@" \
				$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
					of_runtime) -pthread
	} 2>"$W/link" || fail "$name: $(tail -n 5 "$W/link")"
	# The code of the traced program less that of the plain one, and the same of the variables.
	more=$(size "$W/traced" "$W/plain" | awk '
		NR > 1 { code[NR] = $1; variables[NR] = $2 + $3 }
		END { print code[2] - code[3], variables[2] - variables[3] }')
	echo "$name: $* has $more bytes more of code and of variables"
	code=${more% *} variables=${more#* }
	if [ "$code" -lt $((${promised_code% *} * 1024)) ] ||
		[ "$code" -gt $((${promised_code#* } * 1024)) ]; then
		fail "$name: leakwrap(7) says that the runtime has $promised_code KiB"
	fi
	[ "$variables" -le "$(variables_promised "$W/traced")" ] ||
		fail "$name: leakwrap(7) says $promised_variables MB of variables"
}

# footprint NAME COMPILER: measures the target of COMPILER. $lib and $run are the target's.
footprint() {
	link_pair "$1" "$2" "$W/small.c"
	link_pair "$1" "$2" "$W/small.c" -static
	link_pair "$1" "$2" tests/targets/footprint.c -static -pthread
	plain=$($run "$W/plain") || fail "$1: the plain program: status $?"
	traced=$(LEAKWRAP_OPTIONS=exit=0 $run "$W/traced") || fail "$1: status $?"
	echo "$1: stack $traced bytes, $plain untraced"
	[ "$traced" -le $((promised * 1024)) ] ||
		fail "$1: an allocation takes $traced bytes of the stack"
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
