#!/bin/sh
# A program may have a function of its own that is called syscall. The tracer does not call it.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

# ran NAME STATUS: checks what the program NAME has done.
ran() {
	equal "exit status, $1" "$2" 0
	dump_is_whole "$W/log" 1 || fail "$1: no whole dump"
	dump_sites "$W/log" 1 | grep -q '^44 1 ' || fail "$1: the dump lacks the block"
}

for static in '' -static; do
	# shellcheck disable=SC2086 # a list of flags
	build "traced$static" tests/process/own_syscall.c $static
	"$W/traced$static" 2>"$W/log"
	ran "traced$static" $?
done

own_syscall() {
	name=$1
	shift
	build_on_target "$name" tests/process/own_syscall.c "$@"
	$run "$W/$name" 2>"$W/log"
	ran "$name" $?
}
each_target own_syscall <<END || echo "no other machine"
i686-linux-gnu qemu-i386
arm-linux-gnueabihf qemu-arm -static
arm-linux-gnueabi qemu-arm -static
aarch64-linux-gnu qemu-aarch64
riscv64-linux-gnu qemu-riscv64 -static
END
