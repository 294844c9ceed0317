#!/bin/sh
# Calls of syscall(2) do what they do untraced: with six arguments, with an error, and as a fork.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

for static in '' -static; do
	# shellcheck disable=SC2086 # a list of flags
	build "traced$static" tests/process/system_calls.c $static
	"$W/traced$static" "$W/mapped" 2>"$W/log"
	equal "exit status, traced$static" $? 0
	nm -u "$W/traced$static" >"$W/symbols" && nm "$W/traced$static" >>"$W/symbols"
	grep -q '__wrap_syscall' "$W/symbols" || fail "syscall is not wrapped"
done

# The arguments lie in other places on other machines.
system_calls() {
	name=$1
	shift
	build_on_target "$name" tests/process/system_calls.c "$@"
	$run "$W/$name" "$W/mapped" 2>"$W/log"
	equal "exit status, $name" $? 0
}
each_target system_calls <<END || echo "no other machine"
i686-linux-gnu qemu-i386
i686-linux-gnu qemu-i386 -static
arm-linux-gnueabihf qemu-arm -static
arm-linux-gnueabi qemu-arm -static
aarch64-linux-gnu qemu-aarch64
riscv64-linux-gnu qemu-riscv64 -static
END
