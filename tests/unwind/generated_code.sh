#!/bin/sh
# Stacks go through code that was generated at run time, and are guessed.
#
# Such code has no unwind tables and lies in no module. It may have frame pointers or not, and need
# not lead to a return. Threads may unmap their own code at any time.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

# What never returns need not save the registers of its caller. Then the stack may end there. On
# i386 main has a frame pointer. Code without its own leaves that alone, and is taken to have it.
cat >"$W/wanted" <<-END
	11 guessed allocate;?;?;call_outer;main;
	22 guessed ?;?;call_malloc;main;
	33 guessed allocate_and_leave;?;call_endless;
END

# program NAME FLAG...: builds the program with frame pointers and without, and runs both. $gcc,
# $lib and $run are the target's.
program() {
	name=$1
	shift
	for pointers in -fomit-frame-pointer -fno-omit-frame-pointer; do
		build_on_target program tests/unwind/generated_code.c -funwind-tables \
			-fno-stack-protector $pointers "$@"
		rm -f "$W/log"
		# shellcheck disable=SC2086 # a command
		LEAKWRAP_OPTIONS=log=$W/log $run "$W/program" || fail "$name $pointers: status $?"
		dump_sites "$W/log" 1 | sed -n -e 's/^\([123]\)\1 [0-9]* /\1\1 /' \
			-e 's/\(;call_endless;\|;main;\).*/\1/p' |
			grep -v complete | sort -u >"$W/got"
		case $name$pointers in
		i686*-fomit*) grep -v ';call_endless;' "$W/wanted" ;;
		*) cat "$W/wanted" ;;
		esac >"$W/expected"
		cmp -s "$W/expected" "$W/got" || {
			diff -U 0 "$W/expected" "$W/got" | tail -n +3
			fail "$name $pointers: other call sites than expected"
		}
		# shellcheck disable=SC2086 # a command
		LEAKWRAP_OPTIONS=log=$W/log $run "$W/program" threads ||
			fail "$name $pointers, threads: status $?"
	done
}

# compared: two processes have the code at different addresses. Reports take them for the same.
compared() {
	for process in 1 2; do
		LEAKWRAP_OPTIONS=log=$W/$process.log "$W/program" || fail "status $?"
	done
	"$lw" diff "$W/1.log" "$W/2.log" >"$W/diff" || fail "no diff"
	! grep -E 'appeared|vanished' "$W/diff" || fail "stacks differ between processes"
	"$lw" report --merge "$W/1.log" "$W/2.log" >"$W/merged" || fail "no report"
	! grep ' in 1 of 2 processes' "$W/merged" || fail "stacks do not merge"
}

# crashes: prints the functions of the crash trace.
crashes() {
	rm -f "$W/log"
	(LEAKWRAP_OPTIONS=log=$W/log:crash=1 "$W/program" crash) 2>"$W/shell"
	sed -n '/ registers /,/ total /s/^.*  #[0-9]* 0x[0-9a-f]* \([^ +]*\).*/\1/p' "$W/log" |
		sed '/^main$/q' | tr '\n' ';'
}

gcc=$CC run='' lib=$O/libleakwrap.a
if [ "$(uname -m)" = x86_64 ]; then
	program static -static
	program dynamic
	compared
	equal "crash" "$(crashes)" "?;crash;main;"
	if command -v clang >/dev/null; then
		gcc=clang
		program clang
	else
		echo "left out: no clang"
	fi
fi
each_target program <<-END || echo "no cross compiler with an emulator"
	arm-linux-gnueabihf qemu-arm -static
	arm-linux-gnueabihf qemu-arm -static -marm
	i686-linux-gnu qemu-i386 -static
	aarch64-linux-gnu qemu-aarch64 -static
	riscv64-linux-gnu qemu-riscv64 -static
END
