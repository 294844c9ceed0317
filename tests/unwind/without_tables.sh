#!/bin/sh
# Stacks of programs without unwind tables are recognized, and have the same frames as with tables.
#
# BusyBox, and gcc's C code on ARM, have no tables. Guessed stacks are recognized, too.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

without="-fno-unwind-tables -fno-asynchronous-unwind-tables -fomit-frame-pointer"

# sites LOG: prints the call sites of the program's own functions: bytes, blocks, kind, frames up to
# main.
sites() {
	dump_sites "$1" 1 | sed -n 's/;main;.*/;main;/p' |
		grep -E '[ ;](leave_some|evaluate);' | sort
}

# program NAME FLAG...: builds the program with tables and without, and runs both. $lib, $gcc and
# $run are the target's.
program() {
	name=$1
	shift
	for tables in with without; do
		flags=-funwind-tables
		[ $tables = with ] || flags=$without
		# shellcheck disable=SC2086 # a list of flags
		build_on_target "$name-$tables" tests/unwind/without_tables.c \
			-fno-stack-protector -Os $flags "$@"
		# shellcheck disable=SC2086 # a command
		walks=$(LEAKWRAP_OPTIONS=log=$W/$name-$tables.log \
			$run "$W/$name-$tables" interpreter) ||
			fail "$name, $tables tables: status $?"
		[ "$walks" -lt 5 ] ||
			fail "$name, $tables tables: $walks walks for a thousand blocks"
		sites "$W/$name-$tables.log" >"$W/$name-$tables.sites"
	done
	[ "$(wc -l <"$W/$name-with.sites")" -ge 3 ] ||
		fail "$name: too few call sites: $(cat "$W/$name-with.sites")"
	# On i386 main changes sp by an unknown amount and does not return: nothing shows its frame
	# but a frame pointer.
	case $name in
	i686*) kinds='s/ \(complete\|guessed\) / /' ;;
	*) kinds= ;;
	esac
	for tables in with without; do
		sed "$kinds" "$W/$name-$tables.sites" >"$W/$tables"
	done
	diff "$W/with" "$W/without" >"$W/diff" || fail "$name: $(cat "$W/diff")"
	echo "$name: $(awk '{ n[$3] += $2 } END { for (k in n) printf " %d %s", n[k], k }' \
		"$W/$name-without.sites")"
}

gcc=$CC run='' lib=$O/libleakwrap.a
if [ "$(uname -m)" = x86_64 ]; then
	program static -static
	program static-pie -static-pie
	program dynamic
	program no-pie -no-pie
	# clang puts functions next to each other, also behind calls that do not return.
	if command -v clang >/dev/null; then
		gcc=clang
		program clang-static -static
		program clang -pie
	else
		echo "left out: no clang"
	fi
fi
each_target program <<-END || echo "no cross compiler with an emulator"
	arm-linux-gnueabi qemu-arm -static
	arm-linux-gnueabihf qemu-arm -static
	arm-linux-gnueabihf qemu-arm -static -marm
	i686-linux-gnu qemu-i386 -static
	aarch64-linux-gnu qemu-aarch64 -static
	riscv64-linux-gnu qemu-riscv64 -static
END
