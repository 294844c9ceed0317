#!/bin/sh
# A dump and a crash trace that come on an alternate stack of the least size write nothing below it.
# timeout: 900
. tests/lib.sh
. tests/targets/target.sh

# What spare_stack.h says, and what leakwrap(7) says.
limit() {
	sed -n "$1" wrap/signal/spare_stack.h
}
room=$(limit 's/^#define LEAKWRAP_HANDLER_ROOM \([0-9]*\)u$/\1/p')
small=$(limit 's/.*at most \([0-9]*\) bytes of the handler.s stack.*/\1/p')
if [ -z "$room" ] || [ -z "$small" ]; then
	fail "spare_stack.h does not say what a handler takes"
fi
manual_text wrap/man/leakwrap.7 >"$W/manual"
kib='less than \([0-9]*\) KiB'
promised=$(sed -n "s/.*A dump takes $kib, a crash trace $kib.*/\1 \2/p" "$W/manual")
[ -n "$promised" ] || fail "leakwrap(7) does not say what a dump takes"
[ $((${promised#* } * 1024)) -lt "$room" ] || fail "a crash trace takes more than $room bytes"

# at_most WHAT GOT MOST
at_most() {
	echo "$1: $2 bytes of the stack"
	[ "$2" -le "$3" ] || fail "$1: $2 bytes of the stack, more than $3"
}

# small WHAT COMPILER FLAG...: tests the runtime $lib.  $run runs a program.  $more is what the
# emulator's signal frame takes above the least size of a stack.
small() {
	what=$1 compiler=$2
	shift 2
	# shellcheck disable=SC2046,SC2086 # lists
	{
		$compiler $TARGET_CFLAGS "$@" -o "$W/plain" tests/signal/small_stack.c -pthread &&
			$compiler $TARGET_CFLAGS "$@" -o "$W/small" tests/signal/small_stack.c \
				$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
					of_runtime) -pthread
	} 2>"$W/link" || fail "$what: $(tail -n 5 "$W/link")"
	# qemu-i386 mixes up the thread pointers of two threads that return from signal handlers.
	hows='own within two crash'
	if [ "$run" = qemu-i386 ]; then
		if "$W/plain" own 0 >/dev/null 2>&1; then
			run='' more=0 # this machine runs the program itself
		else
			hows='own within crash'
			echo "$what: two threads are left out: no machine but the emulator"
		fi
	fi
	$run "$W/plain" own "$more" >"$W/out" || fail "$what: untraced: status $?"
	read -r size overwritten untraced <"$W/out"
	equal "$what: untraced: bytes below a stack of $size" "$overwritten" 0
	# The least size may have room for registers that are not in use yet (AMX). The kernel
	# aligns registers to 64 bytes. So its frame is as large on a stack smaller by such bytes.
	if [ $((size - untraced)) -gt "$room" ]; then
		more=$((more - (size - untraced - small) / 64 * 64))
	fi
	for how in $hows; do
		log=$W/log
		rm -f "$log"
		LEAKWRAP_OPTIONS=crash=1:log=$log $run "$W/small" "$how" "$more" \
			>"$W/out" 2>"$W/err" || fail "$what: $how: status $?"
		while read -r size overwritten used; do
			equal "$what: $how: bytes below a stack of $size" "$overwritten" 0
			at_most "$what: $how" $((used - untraced)) "$small"
		done <"$W/out"
		wanted='1 signal'
		# qemu-user loses signals while another thread handles one, also untraced.  Each
		# signal that the program's handler gets is dumped.
		if [ "$how" = two ]; then
			handled=$(tail -n 1 "$W/err")
			[ -n "$run" ] || equal "$what: $how: signals" "$handled" 120
			[ "$handled" -gt 60 ] || fail "$what: $how: only $handled signals"
			wanted="$handled signal"
		fi
		[ "$how" != crash ] || wanted='1 crash'
		equal "$what: $how: dumps" \
			"$(grep -c " reason=${wanted#* } " "$log") ${wanted#* }" "$wanted"
		equal "$what: $how: whole dumps" "$(dumps "$log" | wc -l)" $((${wanted% *} + 1))
	done
	# On a larger stack nothing is moved.
	for how in own crash; do
		LEAKWRAP_OPTIONS=crash=1:log=$log $run "$W/small" $how $((4 * room)) >"$W/out" \
			2>"$W/err" || fail "$what: $how on a larger stack: status $?"
		read -r size overwritten used <"$W/out"
		most=${promised% *}
		[ $how = own ] || most=${promised#* }
		at_most "$what: $how, of $size," $((used - untraced)) $((most * 1024))
		[ $((used - untraced)) -gt "$small" ] || fail "$what: $how: was moved"
	done
}

lib=$O/libleakwrap.a run='' more=0
small x86-64 gcc
small x86-64-static gcc -static
for one in i686-linux-gnu:qemu-i386:2048 arm-linux-gnueabihf:qemu-arm:0 \
	arm-linux-gnueabi:qemu-arm:0 aarch64-linux-gnu:qemu-aarch64:0 \
	riscv64-linux-gnu:qemu-riscv64:0; do
	more=${one##*:} triple=${one%%:*}
	run=${one#*:} run=${run%:*}
	{ command -v "$triple-gcc" && command -v "$run"; } >/dev/null || {
		echo "$triple is left out: no compiler or no emulator"
		continue
	}
	runtime "$triple" CROSS_COMPILE="$triple-"
	small "$triple" "$triple-gcc" -static
done
