#!/bin/sh
# unwind=instrument takes backtraces from the hooks of -finstrument-functions, on every
# architecture.
#
# The program has neither tables nor frame pointers. longjmp, signals, threads and fork do not
# confuse the tracer. The dump reports an overflow.
. tests/lib.sh
. tests/targets/target.sh

instrumented='-finstrument-functions -fomit-frame-pointer -fno-asynchronous-unwind-tables'
instrumented="$instrumented -fno-unwind-tables"

# expect HOW PROGRAM...: runs the program. Its stacks must be what its hooks reported.
expect() {
	how=$1 log=$W/log
	shift
	LEAKWRAP_OPTIONS=unwind=instrument "$@" 2>"$log" || fail "$how: status $?"
	pid=$(sed -n 's/^leakwrap\[\([0-9]*\).*reason=exit.*/\1/p' "$log" | tail -n 1)
	child=$(sed -n 's/^leakwrap\[\([0-9]*\).*reason=exit.*/\1/p' "$log" | head -n 1)
	sites=$(dump_sites "$log" "$pid.1")

	for expected in '1 1 complete leak;jumps;main;' '2 1 [a-z]* leak;on_signal;[^;]*;main;' \
		'3 1 complete leak;raises;main;' '4 1 [a-z]* leak;in_thread;' \
		'5 1 complete leak;nests;nests;nests;nests;main;' \
		'5 1 complete leak;nests;nests;nests;nests;nests;main;'; do
		echo "$sites" | grep -q "^$expected" || fail "$how: no '$expected' in: $sites"
	done
	echo "$sites" | grep -q '^5 1 truncated leak;nests;' ||
		fail "$how: the deep stack is not truncated: $sites"
	dump_lines "$log" "$pid.1" | grep -q '^note .*too deep' ||
		fail "$how: the overflow is not told"
	dump_sites "$log" "$child.1" | grep -q '^6 1 complete leak;in_child;main;' ||
		fail "$how: the child: $(dump_sites "$log" "$child.1")"
	! dump_lines "$log" "$child.1" | grep -q '^note .*too deep' ||
		fail "$how: the child has inherited an overflow"
}

for static in '' -static; do
	# shellcheck disable=SC2086 # a list of flags
	build instrument $static $instrumented tests/unwind/instrument.c
	expect "this machine $static" "$W/instrument"
done

for machine in 'i686-linux-gnu qemu-i386' 'aarch64-linux-gnu qemu-aarch64' \
	'riscv64-linux-gnu qemu-riscv64' 'arm-linux-gnueabihf qemu-arm' \
	'arm-linux-gnueabi qemu-arm'; do
	target "${machine% *}" "${machine#* }"
	# shellcheck disable=SC2086 # a list of flags
	build_on_target instrument tests/unwind/instrument.c $instrumented -static
	# shellcheck disable=SC2086 # a command and its arguments
	expect "$triple" $run "$W/instrument"
done
