#!/bin/sh
# On AArch64 every call site is found: gcc and clang, and signed return addresses on a processor
# that checks them.
. tests/lib.sh
. tests/targets/target.sh

target aarch64-linux-gnu qemu-aarch64
run="qemu-aarch64 -cpu max -L /usr/$triple"
clang="clang --target=$triple"

# by_frame_pointers LABEL: checks the leaks of $W/app, which has no tables. In a thread, the C
# library's first frames may be out of reach.
by_frame_pointers() {
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log:unwind=fp $run "$W/app" leaks >"$W/out" 2>&1 ||
		fail "$1: status $?"
	call_sites "$W/app" "$W/log@1" | sed 's/ truncated$//' >"$W/got"
	sort "$expected" | diff - "$W/got" || fail "$1: other call sites than expected"
}

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
	# shellcheck disable=SC2086
	vendor "$gcc" $flags -fno-omit-frame-pointer
	relink "$gcc"
	by_frame_pointers "gcc $flags, frame pointers"
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
