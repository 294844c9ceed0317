#!/bin/sh
# Each root keeps its block reachable, and a block that no root holds is lost, on every target: in
# data, thread-local storage, thread keys, stacks of threads that sleep and that block signals,
# registers, a coroutine's stack, what a thread returned, and memory that the program maps; also by
# tagged addresses and by usual pointers into a block. Static and dynamic, glibc and musl, on all
# processors.
# timeout: 600
. tests/lib.sh

sed -n 's/^BLOCK(\([a-z_]*\))$/\1/p' tests/reach/roots.c >"$W/functions"
while read -r function; do
	case $function in
	lose_*) echo "$function definite" ;;
	inside_*) echo "$function possible" ;;
	*_ignored) [ "$function" = keep_ignored ] || echo "$function reachable" ;;
	*) echo "$function reachable" ;;
	esac
done <"$W/functions" | sort >"$W/wanted"

# check WHAT PROGRAM...: runs the program and checks each block.
check() {
	what=$1
	shift
	rm -f "$W/log"
	LEAKWRAP_OPTIONS="kinds=always:log=$W/log:signal=none:$options" timeout 60 "$@" ||
		fail "$what: status $?"
	grep -q '^leakwrap.* kinds ' "$W/log" || fail "$what: no kinds: $(grep note "$W/log")"
	dump_lines "$W/log" 1 | awk '
		/^site / { kind = $NF; sub("=.*", "", kind) }
		/^ *#0 / { sub(/\+0x.*/, "", $3) }
		/^ *#0 / && $3 ~ /^(keep|lose|inside)_/ { print $3, kind }' |
		sort >"$W/got"
	# Under an emulator the stacks of ended threads are roots; later calls overwrite them.
	case $1 in
	qemu-*) unknown='^lose_ended_' ;;
	*) unknown='^$' ;;
	esac
	grep -v "$unknown" "$W/wanted" >"$W/wanted_here"
	grep -v "$unknown" "$W/got" | diff -U 0 "$W/wanted_here" - >"$W/differing" ||
		fail "$what: $(tail -n +3 "$W/differing")"
	equal "$what: possible" "$(dump_value "$W/log" 1 possible_blocks)" 1
	tried="$tried, $what"
}

# check_target TRIPLE COMPILER LOADER RUN...: builds the program for TRIPLE, and checks it.
check_target() {
	triple=$1 compiler=$2 loader=$3
	shift 3
	# shellcheck disable=SC2086 # a list of flags
	"$compiler" $CFLAGS_FOR_TESTS -c -o "$W/roots.o" tests/reach/roots.c ||
		fail "$triple: cannot compile"
	for how in "$loader" -static; do
		# shellcheck disable=SC2046,SC2086 # lists of flags
		"$compiler" $how -o "$W/roots" "$W/roots.o" \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) -pthread \
			2>"$W/link" || fail "$triple $how: $(tail -n 5 "$W/link")"
		check "$triple ${how##-Wl*}" "$@" "$W/roots"
	done
}

# With pointer_step=1 two more blocks are reachable.
check_in_steps() {
	sed 's/^\(lose_packed\|lose_across_pages\) .*/\1 reachable/' "$W/wanted" >"$W/aligned"
	mv "$W/wanted" "$W/before"
	mv "$W/aligned" "$W/wanted"
	check "$@"
	mv "$W/before" "$W/wanted"
}

tried='' options=''
lib=$O/libleakwrap.a
check_target this "$CC" ""
options=pointer_step=1
check_in_steps "pointer_step=1" "$W/roots"
options=''
for one in arm-linux-gnueabi:qemu-arm arm-linux-gnueabihf:qemu-arm aarch64-linux-gnu:qemu-aarch64 \
	riscv64-linux-gnu:qemu-riscv64; do
	triple=${one%:*} qemu=${one#*:}
	{ command -v "$triple-gcc" >"$W/found" && has_emulator "$qemu"; } || {
		echo "$triple is left out: no compiler, or no emulator that interrupts threads"
		continue
	}
	runtime "$triple" CROSS_COMPILE="$triple-"
	check_target "$triple" "$triple-gcc" "" "$qemu" -L "/usr/$triple"
done
# Under qemu-i386 some threads never start, untraced too.
triple=i686-linux-gnu
loader=/usr/$triple/lib/ld-linux.so.2
if "$loader" --verify "$loader" >"$W/found" 2>&1 || [ $? -lt 126 ]; then
	runtime "$triple" CROSS_COMPILE="$triple-"
	check_target "$triple" "$triple-gcc" \
		"-Wl,--dynamic-linker=$loader,-rpath,${loader%/*}"
else
	echo "$triple is left out: this machine does not run its programs"
fi
if command -v musl-gcc >"$W/found"; then
	runtime x86_64-linux-musl CC=musl-gcc
	check_target musl musl-gcc ""
else
	echo "musl is left out: no musl-gcc"
fi
echo "tried: ${tried#, }"
