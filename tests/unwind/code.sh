#!/bin/sh
# Frames that are read from the code agree with the unwind tables.
#
# The test looks at each call in the cross compilers' libraries that has a table, and reads the code
# as if it had none: how the function builds its frame, and how it takes it down. If the two agree,
# the walk believes them, so there must be no error. If they differ, or if one is unknown, the stack
# decides; there may be few such calls. Of a large library it looks at each fourth call, and at all
# calls with EACH=1.
# timeout: 300
. tests/lib.sh

# calls TRIPLE FILE: prints return addresses, each with "thumb" or "other".
calls() {
	"$1-objdump" -d "$2" | awk -F '\t' '
		/^ *[0-9a-f]+:/ {
			address = $1
			gsub(/[: ]/, "", address)
			if (call) print address, kind
			raw = $2
			sub(/ +$/, "", raw)
			kind = raw ~ /^[0-9a-f]+$/ && length(raw) == 8 ? "other" : "thumb"
			op = $3
			sub(/\.[nw]$/, "", op)
			call = op ~ /^blx?(eq|ne|cs|cc|mi|pl|vs|vc|hi|ge|gt)?$/ || op == "blr" ||
				((op == "jal" || op == "jalr") && $4 !~ /^(zero|t0|t1)/)
		}'
}

ran=0
# images TRIPLE QEMU FILE...: compares code and tables of the files.
images() {
	triple=$1 qemu=$2
	shift 2
	if ! command -v "$triple-gcc" >/dev/null || ! command -v "$qemu" >/dev/null; then
		echo "$triple: no compiler or no emulator"
		return
	fi
	# shellcheck disable=SC2086 # a list of flags
	"$triple-gcc" $CFLAGS_FOR_TESTS -static -o "$W/code-$triple" tests/unwind/code.c \
		wrap/arch/decoder.c wrap/unwind/code_follower.c wrap/unwind/epilogue.c \
		wrap/unwind/prologue.c wrap/unwind/arm_exidx.c wrap/unwind/eh_frame.c \
		wrap/unwind/fde.c wrap/unwind/cfa_program.c wrap/unwind/dwarf_expr.c ||
		fail "cannot build for $triple"
	for file; do
		file=/usr/$triple/lib/$file
		[ -e "$file" ] || continue
		calls "$triple" "$file" >"$W/all"
		each=${EACH:-4}
		[ "$(wc -l <"$W/all")" -ge 2000 ] || each=1
		awk "NR % $each == 0" "$W/all" >"$W/calls"
		"$qemu" "$W/code-$triple" "$file" <"$W/calls" >"$W/out" || fail "$file: status $?"
		echo "$file: $(cat "$W/out")"
		# shellcheck disable=SC2046 # words
		set -- $(tr -cs '0-9\n' ' ' <"$W/out")
		[ "$1" -gt 100 ] || fail "$file: too few calls"
		[ $(($2 * 1000)) -le "$1" ] || fail "$file: calls are not seen"
		# ARM's tables have one frame for a whole function. A call before the last
		# instruction of the prologue has another frame: the code says so, the table does
		# not.
		# On RISC-V gcc 14 saves the frame pointer on the ways that need it as a usual
		# register. At other calls both may take it for saved. What else they say is right.
		case $triple in
		arm*) few=3 errors=2 ;;
		riscv*) few=10 errors=7 ;;
		*) few=0 errors=2 ;;
		esac
		[ "$8" -le $few ] || fail "$file: both agree on what is wrong"
		[ $((($4 + $6) * 100)) -le $(($1 * errors)) ] || fail "$file: too many errors"
		[ $(($5 * 100)) -ge $(($1 * 97)) ] || fail "$file: too few frames are found"
		ran=$((ran + 1))
	done
}

libraries="libc.so.6 libstdc++.so.6 libgcc_s.so.1"
# shellcheck disable=SC2086 # a list
{
	images arm-linux-gnueabihf qemu-arm $libraries
	images arm-linux-gnueabi qemu-arm $libraries
	images aarch64-linux-gnu qemu-aarch64 $libraries
	images riscv64-linux-gnu qemu-riscv64 $libraries
}
[ $ran -gt 0 ] || skip "no cross compiler with an emulator"
