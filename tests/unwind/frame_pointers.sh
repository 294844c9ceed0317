#!/bin/sh
# The walk along frame pointers gives every frame, and says whether it reached the first frame.
#
# A register that holds no frame pointer never makes it fault. glibc's start code for threads has
# frame pointers on AArch64 and RISC-V: stacks of threads are complete there, under emulation.
# timeout: 600
. tests/lib.sh

for static in '' -static; do
	build "frames$static" $static tests/unwind/frame_pointers.c
	log=$W/log$static
	LEAKWRAP_OPTIONS=unwind=fp "$W/frames$static" 2>"$log" || fail "status $?"
	# Without tables the walk cannot tell a static program's own frames from the C library's
	# start code.
	kind=complete
	[ -z "$static" ] || kind='[a-z]*'
	stacks=$(dump_sites "$log" 1)
	while read -r what wanted; do
		echo "$stacks" | grep -q "^11 1 $wanted" || fail "$what$static: $stacks"
	done <<-END || exit 1
		outer(0) $kind leaf;middle;outer;main;
		outer(1) $kind leaf;middle;outer;outer;main;
		thread [a-z]* leaf;middle;thread_main;
	END
	# The tracer keeps 64 frames of the deep stack.
	deep=leaf\;middle\;$(yes 'outer;' | head -n 62 | tr -d '\n')
	echo "$stacks" | grep -q "^11 1 truncated $deep\$" || fail "outer(100)$static: $stacks"
	if [ "$(uname -m)" = x86_64 ]; then
		equal "garbage frame pointers$static" \
			"$(site_by "$log" 1 with_frame_pointer)" "396 18"
	fi
	[ "$(dump_value "$log" 1 truncated_blocks)" -ge 1 ] ||
		fail "no truncated block is counted$static"
done

# The dump's share of bytes with complete stacks is the call sites' share, never rounded up.
share=$(dump_sites "$log" 1 | awk '
	{ all += $1 }
	$3 == "complete" { whole += $1 }
	END { printf "%.2f", int(10000 * whole / all) / 100 }')
equal "share of complete stacks" "$(dump_value "$log" 1 complete_stack_bytes_percent)" "$share"
truncated=$(dump_sites "$log" 1 | awk '$3 == "truncated" { blocks += $2 } END { print blocks + 0 }')
equal "truncated blocks" "$(dump_value "$log" 1 truncated_blocks)" "$truncated"

# depth= keeps the innermost frames.
LEAKWRAP_OPTIONS=unwind=fp:depth=3 "$W/frames" 2>"$W/depth.log" || fail "status $?"
dump_sites "$W/depth.log" 1 | grep -q ' truncated leaf;middle;outer;$' ||
	fail "depth=3: $(dump_sites "$W/depth.log" 1)"

# threads TRIPLE QEMU: checks the thread's stack on another machine.
threads() {
	if ! command -v "$1-gcc" >"$W/found" || ! has_emulator "$2"; then
		echo "$1 is left out: no compiler or no emulator"
		return
	fi
	runtime "$1" CROSS_COMPILE="$1-"
	# shellcheck disable=SC2046,SC2086 # lists of flags
	"$1-gcc" $CFLAGS_FOR_TESTS -o "$W/$1" tests/unwind/frame_pointers.c \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) -pthread \
		2>"$W/link" || fail "$1: $(tail -n 5 "$W/link")"
	LEAKWRAP_OPTIONS=unwind=fp "$2" -L "/usr/$1" "$W/$1" 2>"$W/log.$1" ||
		fail "$1: status $?"
	dump_sites "$W/log.$1" 1 | grep -q '^11 1 complete leaf;middle;thread_main;' ||
		fail "$1: $(dump_sites "$W/log.$1" 1)"
}
threads aarch64-linux-gnu qemu-aarch64
threads riscv64-linux-gnu qemu-riscv64
