#!/bin/sh
# On other processors and with other C libraries, misuse= reports certain misuse, and never a block.
#
# Certain are pointers into the stack, or where a frame was, and into static data.
# timeout: 480
. tests/lib.sh
. tests/targets/target.sh

certain="stack thread gone gone_thread literal table unaligned"
with_glibc="data zeros stream static_realloc"
quiet="churn pool failed ignored strings library static_pool given_stack unguarded coroutine"
quiet="$quiet handler handed gaps"
tried=0

# check LABEL PROGRAM CERTAIN QUIET: each case of CERTAIN is reported, and no case of QUIET is.
check() {
	for case in $3; do
		# shellcheck disable=SC2086 # none or a list
		LEAKWRAP_OPTIONS=misuse=report:exit=0:log="$W/log" timeout 20 $run "$2" "$case" \
			>"$W/out" 2>&1
		told=$(sed -n 's/^leakwrap[^ ]* misuse \([a-z]*_[a-z]*\) .*/\1/p' \
			"$W/log" 2>/dev/null)
		rm -f "$W/log"
		case $case in
		stack | thread | gone*) expected=stack_pointer ;;
		unaligned) expected=interior_pointer ;;
		*) expected=static_pointer ;;
		esac
		equal "$1, $case" "$told" $expected
	done
	for case in $4; do
		# shellcheck disable=SC2086
		LEAKWRAP_OPTIONS=misuse=abort:exit=0 timeout 20 $run "$2" "$case" \
			>"$W/out" 2>"$W/err" ||
			fail "$1, $case: status $?: $(tail -n 5 "$W/err")"
		equal "$1, $case" "$(grep -c ' misuse ' "$W/err")" 0
	done
	tried=$((tried + 1))
}

# programs LABEL COMPILER FLAG...: builds $W/dynamic, with the library, and $W/static.
programs() {
	label=$1 compiler=$2
	shift 2
	flags=$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime)
	# shellcheck disable=SC2086 # lists of flags
	{
		$compiler -shared -fPIC -O2 "$@" -o "$W/libelsewhere.so" \
			tests/alloc/unseen_frees_library.c &&
			$compiler $TARGET_CFLAGS -Wno-error -DWITH_LIBRARY "$@" -o "$W/dynamic" \
				tests/alloc/misuse.c -L"$W" \
				-lelsewhere -Wl,-rpath,"$W" -pthread $flags &&
			$compiler $TARGET_CFLAGS -Wno-error -static -o "$W/static" \
				tests/alloc/misuse.c -pthread $flags
	} 2>"$W/link" || fail "$label: $(tail -n 5 "$W/link")"
}

left_out=
for processor in i386:i686-linux-gnu aarch64:aarch64-linux-gnu arm:arm-linux-gnueabihf \
	riscv64:riscv64-linux-gnu; do
	triple=${processor#*:}
	if ! command -v "$triple-gcc" >/dev/null ||
		! command -v "qemu-${processor%:*}" >/dev/null; then
		left_out="$left_out $triple"
		continue
	fi
	target "$triple" "qemu-${processor%:*}"
	kinds="dynamic static"
	if [ "$triple" = i686-linux-gnu ]; then
		# This machine's own kernel may run them. The emulator hangs in dynamic programs
		# with threads.
		loader=-Wl,--dynamic-linker=/usr/$triple/lib/ld-linux.so.2,-rpath,/usr/$triple/lib
		programs "$triple" "$gcc" "$loader"
		if "$W/static" none 2>"$W/err"; then run=; else kinds=static; fi
	else
		programs "$triple" "$gcc"
	fi
	for linked in $kinds; do
		check "$triple, $linked" "$W/$linked" "$certain $with_glibc" "$quiet"
	done
done

if command -v musl-gcc >/dev/null; then
	runtime x86_64-linux-musl CC=musl-gcc
	run=
	programs musl musl-gcc
	for linked in dynamic static; do
		check "musl, $linked" "$W/$linked" "stack thread gone gone_thread literal table" \
			"$quiet"
	done
	# musl gives the rest of the variables' pages to the heap. The variables may fill them.
	beside=$("$W/dynamic" gaps 2>/dev/null)
	if [ "$beside" = 0 ]; then
		echo 'char more_variables[2048];' >"$W/more.c"
		programs musl musl-gcc "$W/more.c"
		check "musl, more variables" "$W/dynamic" table gaps
		beside=$("$W/dynamic" gaps 2>/dev/null)
	fi
	[ "$beside" -gt 0 ] || fail "musl: no block beside the variables"
	for case in data zeros; do
		LEAKWRAP_OPTIONS=misuse=report:exit=0 "$W/dynamic" $case >"$W/out" 2>&1
		equal "musl, $case" "$(grep -c ' misuse ' "$W/out")" 0
	done
else
	left_out="$left_out musl"
fi
# Debian has no compiler for uClibc-ng: nobody is told that it was left out.
if has_uclibc; then
	runtime uclibc CC="$uclibc"
	run=$uclibc_run
	programs uclibc "$uclibc"
	for linked in dynamic static; do
		check "uclibc, $linked" "$W/$linked" "$certain" "$quiet"
	done
fi
[ -z "$left_out" ] || skip "not installed:$left_out"
echo "$tried programs"
