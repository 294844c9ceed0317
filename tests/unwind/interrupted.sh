#!/bin/sh
# The crash trace of an interrupted function has its caller, exactly once, by every way to walk.
#
# It must not have a function that was called before.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

# chain WAY HOW...: prints the frames of the trace up to main.
chain() {
	way=$1
	shift
	# shellcheck disable=SC2086 # a command
	LEAKWRAP_OPTIONS=crash=1:exit=0:unwind=$way sh -c '"$@" 2>"$0"' "$W/log" $run \
		"$W/program" "$@" >/dev/null 2>&1
	dump_lines "$W/log" 1 | awk '
		/^total/ { exit }
		/^ *#/ { f = $3; sub(/\+0x.*/, "", f); printf "%s;", f; if (f == "main") exit }'
}

# program NAME FLAG...: builds the program at three levels of optimization, and compares its chains.
# $gcc, $lib and $run are the target's. $icf keeps equal functions apart.
program() {
	name=$1
	shift
	for level in -O0 -O1 -O2; do
		# shellcheck disable=SC2086 # a list of flags
		build_on_target program tests/unwind/interrupted.c -static $icf \
			-fno-stack-protector -fno-omit-frame-pointer "$@" $level
		for way in auto fp; do
			# A walk cannot follow gcc's frame pointers of Thumb code.
			case $way$name in fp*-mthumb) continue ;; esac
			for how in calls counts leaf; do
				how_built="$name $level, $way, $how"
				equal "$how_built" "$(chain $way $how)" "$how;direct;main;"
				equal "$how_built by a pointer" "$(chain $way $how pointer)" \
					"$how;by_pointer;main;"
			done
		done
	done
}

gcc=$CC run='' lib=$O/libleakwrap.a icf=$keep_apart
program native
icf=-fno-ipa-icf
each_target program <<-END || echo "no cross compiler with an emulator"
	arm-linux-gnueabihf qemu-arm -marm
	arm-linux-gnueabihf qemu-arm -marm -mapcs-frame
	arm-linux-gnueabihf qemu-arm -mthumb
	arm-linux-gnueabi qemu-arm
	aarch64-linux-gnu qemu-aarch64
	riscv64-linux-gnu qemu-riscv64
	i686-linux-gnu qemu-i386
END
