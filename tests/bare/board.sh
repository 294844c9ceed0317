# shellcheck shell=sh
# board.sh - builds the runtime for each board, and builds and runs programs for it in an emulator.
#
# Sourced after tests/lib.sh.
# shellcheck disable=SC2016,SC2034,SC2154 # for make; for those who source this; of lib.sh

# The boards: processor and instruction set, and the build of newlib that they take.
#   m3    Cortex-M3, Thumb-2         newlib in Thumb-2
#   m0    Cortex-M0, Thumb-1         newlib in Thumb-1
#   a9    Cortex-A9, ARM             newlib in Thumb-2
#   926   ARM926, ARM, no atomics    newlib in ARM
boards="m3 m0 a9 926"

board_flags() {
	case $1 in
	m3) echo -mcpu=cortex-m3 -mthumb ;;
	m0) echo -mcpu=cortex-m0 -mthumb ;;
	a9) echo -mcpu=cortex-a9 -marm -mfloat-abi=soft ;;
	926) echo -mcpu=arm926ej-s -marm ;;
	esac
}

for tool in arm-none-eabi-gcc qemu-system-arm; do
	command -v $tool >/dev/null || skip "there is no $tool"
done

# board_runtime BOARD: builds the archive for BOARD. All tests share it, and the first test builds
# it.
made=
board_runtime() {
	case $made in *"$1 "*) return ;; esac
	made="$made$1 "
	set -- "$1" O="$O/bare/$1" PORT=bare CC=arm-none-eabi-gcc AR=arm-none-eabi-ar \
		CROSS_COMPILE=arm-none-eabi- CFLAGS_TARGET="$(board_flags "$1")"
	board=$1
	shift
	flock "$O/tests/bare.lock" make -s WERROR=-Werror DEBUG_INFO= "$@" lib \
		>"$W/make.$board" 2>&1 ||
		fail "$board: cannot build the runtime: $(cat "$W/make.$board")"
}

# board_build BOARD NAME SOURCE-OR-FLAG...: builds $W/NAME.BOARD. Code of a "vendor" (rtos.c) has
# neither frame pointers nor tables, and no debugging information.
board_build() {
	board=$1 name=$2
	shift 2
	board_runtime "$board"
	# shellcheck disable=SC2046 # lists of flags
	compile_once arm-none-eabi-gcc $(board_flags "$board") -std=gnu11 -Os -Wall -Wextra \
		-Werror -fomit-frame-pointer tests/bare/rtos.c
	# shellcheck disable=SC2046 # lists of flags
	arm-none-eabi-gcc $(board_flags "$board") -std=gnu11 -O2 -g -Wall -Wextra -Werror \
		-D_GNU_SOURCE -I. -Iwrap \
		-Itests/bare -fno-builtin -fno-optimize-sibling-calls -fno-inline -fno-ipa-icf \
		-nostartfiles -Ltests/bare -T "$board.ld" -Wl,--build-id -o "$W/$name.$board" \
		"$@" tests/bare/board.c "$object" \
		$(make --no-print-directory -s -f linker-flags.mk \
			--eval 'flags: ; @echo $(LEAKWRAP_BARE_LDFLAGS) $(LEAKWRAP_BARE_LDLIBS)' \
			LEAKWRAP_LIB="$O/bare/$board/libleakwrap.a" flags) ||
		fail "$board: cannot build $name"
}

# board_run BOARD NAME LOG: runs the program, and returns its exit status.
board_run() {
	case $1 in
	m3 | m0) machine="mps2-an385" ;;
	a9) machine="vexpress-a9" ;;
	926) machine="versatilepb" ;;
	esac
	QEMU_AUDIO_DRV=none timeout 60 qemu-system-arm -M "$machine" -nographic \
		-monitor none -serial none \
		-semihosting-config enable=on,target=native -kernel "$W/$2.$1" >"$3" 2>&1 </dev/null
}

lw=$O/leakwrap

# board_sites NAME.BOARD LOG: prints "BYTES BLOCKS KIND FUNCTION FILE:LINE" of each call site,
# sorted, as the tool on the host reports it. Function and line belong to frame 0.
board_sites() {
	"$lw" report --format=json --exe="$W/$1" "$2" >"$W/json" 2>"$W/report.err" ||
		fail "$1: $(cat "$W/report.err")"
	[ ! -s "$W/report.err" ] || fail "$1: $(cat "$W/report.err")"
	totals='.*"live_bytes":\([0-9]*\),"live_blocks":\([0-9]*\),"stack":"\([a-z]*\)"'
	frame='.*"frames":\[{[^}]*"function":"\([^"]*\)"'
	place=',"file":"\([^"]*\/\)*\([^"]*\)","line":\([0-9]*\).*'
	sed -n "s/$totals$frame$place/\\1 \\2 \\3 \\4 \\6:\\7/p" \
		"$W/json" | sort
}
