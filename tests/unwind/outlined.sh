#!/bin/sh
# Stacks through functions whose first and last instructions lie in routines of their own are
# complete, although no table describes them.
#
# gcc calls routines of libgcc with -msave-restore. clang moves what functions have in common.
. tests/lib.sh
. tests/targets/target.sh

target riscv64-linux-gnu qemu-riscv64

# walks NAME LEVELS COMPILER...: builds the program at each level and compares its stacks. The
# functions use routines with names like NAME.
walks() {
	name=$1 levels=$2
	shift 2
	for level in $levels; do
		"$@" "$level" -std=gnu11 -I. -fno-unwind-tables -fno-asynchronous-unwind-tables \
			-fomit-frame-pointer -c -o "$W/outlined.o" tests/unwind/outlined.c ||
			fail "$* $level: cannot compile"
		# shellcheck disable=SC2046 # a list of flags
		"$gcc" -static -o "$W/outlined" "$W/outlined.o" \
			$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS | of_runtime) ||
			fail "$* $level: cannot link"
		"$triple-objdump" -dr "$W/outlined.o" >"$W/code"
		grep -q -e "jalr*[[:space:]]*t0,.*<$name" \
			-e "R_RISCV_CALL[A-Z_]*[[:space:]]*$name" "$W/code" ||
			fail "$* $level: nothing is outlined"
		# shellcheck disable=SC2086 # a command
		LEAKWRAP_OPTIONS=log=$W/log $run "$W/outlined" || fail "$* $level: status $?"
		dump_sites "$W/log" 1 | sed -n 's/;main;.*/;main;/p' | grep '[ ;]leaf;' |
			sort >"$W/sites"
		rm "$W/log"
		cat >"$W/wanted" <<-END
			1000 1 complete leaf;fourth;third;second;first;main;
			1000 1 complete leaf;fourth;third;second;main;
		END
		diff "$W/wanted" "$W/sites" >"$W/diff" || fail "$* $level: $(cat "$W/diff")"
	done
}

walks __riscv_save_ "-O1 -O2 -Os" "$gcc" -msave-restore
if command -v clang >/dev/null; then
	walks OUTLINED_FUNCTION_ "-O1 -O2 -Os -Oz" clang --target=riscv64-linux-gnu \
		-mllvm -enable-machine-outliner=always
else
	echo "left out: no clang"
fi
