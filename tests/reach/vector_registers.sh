#!/bin/sh
# A block to which a vector register alone points is reachable, however wide the register is, on
# each processor. memmove holds pointers there while it moves an array of them.
# timeout: 600
. tests/lib.sh

# check WHAT PROGRAM...: runs the program and checks each block.
check() {
	what=$1
	shift
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log:signal=none" timeout 60 "$@" >"$W/out" ||
		fail "$what: status $?"
	grep -q '^leakwrap.* kinds ' "$W/log" || fail "$what: no kinds: $(grep note "$W/log")"
	dump_lines "$W/log" 1 | awk '
		/^site / { kind = $NF; sub("=.*", "", kind) }
		/^ *#0 / { sub(/[.+].*/, "", $3) }
		/^ *#0 / && sub(/^keep_/, "", $3) { print $3, kind }' | sort >"$W/got"
	# What has no register is lost.
	sed 's/ missing$/ definite/' "$W/out" | sort | diff -U 0 - "$W/got" >"$W/differing" ||
		fail "$what: $(tail -n +3 "$W/differing")"
	sed -n "s/\(.*\) missing$/$what: \1 is left out: the processor does not have it/p" "$W/out"
	sed -n "s/\(.*\) reachable$/$what: \1/p" "$W/out"
}

build here tests/reach/vector_registers.c
check "this machine" "$W/here"

# check_target TRIPLE RUN...: builds the program for TRIPLE, and checks it. Vectors of 256 bytes do
# not fit into the usual frame of a signal.
check_target() {
	triple=$1
	shift
	runtime "$triple" CROSS_COMPILE="$triple-"
	# shellcheck disable=SC2046,SC2086 # lists of flags
	"$triple-gcc" $CFLAGS_FOR_TESTS -static -o "$W/$triple" \
		tests/reach/vector_registers.c \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) -pthread \
		2>"$W/link" || fail "$triple: $(tail -n 5 "$W/link")"
	check "$triple, $*" "$@" "$W/$triple"
}

for one in "i686-linux-gnu:env" "arm-linux-gnueabihf:qemu-arm" "aarch64-linux-gnu:qemu-aarch64" \
	"aarch64-linux-gnu:qemu-aarch64 -cpu max,sve-default-vector-length=256"; do
	triple=${one%%:*} run=${one#*:}
	if ! command -v "$triple-gcc" >"$W/found" || ! has_emulator "${run%% *}"; then
		echo "$triple is left out: no compiler, or no emulator that interrupts threads"
		continue
	fi
	loader=/usr/$triple/lib/ld-linux.so.2
	"$loader" --verify "$loader" >"$W/found" 2>&1
	if [ $? -ge 126 ] && [ "$run" = env ]; then
		echo "$triple is left out: this machine does not run its programs"
		continue
	fi
	# shellcheck disable=SC2086 # a command
	check_target "$triple" $run
done
