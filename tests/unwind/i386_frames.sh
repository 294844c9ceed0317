#!/bin/sh
# On i386 stacks are complete through functions that return structures, functions that align their
# frames, and calls that need no PLT, although no table describes them.
#
# A function that returns a structure takes the address of its result off the stack (ret $4). One
# that aligns its frame keeps the address of its arguments in ecx. main does so in gcc's code.
# With -fno-plt a function is called through the GOT. The linker makes a direct call of it, with a
# prefix.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

target i686-linux-gnu qemu-i386

# walks SOURCE WANTED COMPILER...: builds the program at each level and compares its stacks.
walks() {
	source=$1 wanted=$2
	shift 2
	for level in -O0 -O1 -O2 -Os; do
		for link in -static -pie; do
			what="$source $* $level $link"
			pic=-fPIE
			[ $link = -pie ] || pic=-fno-pie
			"$@" $level $pic -std=gnu11 -I. -fno-unwind-tables \
				-fno-asynchronous-unwind-tables -fomit-frame-pointer \
				-fno-stack-protector -c -o "$W/frames.o" \
				"tests/unwind/$source.c" || fail "$what: cannot compile"
			# shellcheck disable=SC2046 # a list of flags
			"$gcc" $link -o "$W/frames" "$W/frames.o" \
				$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) ||
				fail "$what: cannot link"
			# shellcheck disable=SC2086 # a command
			LEAKWRAP_OPTIONS=log=$W/log $run "$W/frames" >"$W/out" ||
				fail "$what: status $?"
			dump_sites "$W/log" 1 | sed -n 's/;main;.*/;main;/p' |
				grep -v IO_file_doallocate | sort >"$W/sites"
			rm "$W/log"
			echo "$wanted" | diff - "$W/sites" >"$W/diff" ||
				fail "$what: $(cat "$W/diff")"
		done
	done
}

structures="1000 1 complete make;load;parse;main;
1001 1 complete make;load;parse;main;
1010 1 complete make;load;parse_with;main;
1011 1 complete make;load;parse_with;main;
77 1 complete parse;main;"
aligned="1000 1 complete scene;load;main;
1000 1 complete scene;load;main;"
walks returned_structures "$structures" "$gcc"
walks returned_structures "$structures" "$gcc" -mstackrealign
walks returned_structures "$structures" "$gcc" -fno-plt
walks aligned_frame "$aligned" "$gcc"
if command -v clang >/dev/null; then
	walks returned_structures "$structures" clang --target=i686-linux-gnu
	walks aligned_frame "$aligned" clang --target=i686-linux-gnu
else
	echo "left out: no clang"
fi
