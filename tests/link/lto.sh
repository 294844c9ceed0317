#!/bin/sh
# With link-time optimization no call escapes the wrap.
#
# The test looks at what the program records, and at its code. This holds for gcc -flto with bfd,
# gold and mold, and for clang -flto with lld, gold, mold and bfd, dynamic and static. lld does not
# read the objects of gcc -flto.
#
# It does not hold if an object of the optimization defines a wrapped function itself, such as an
# allocator of the program's own. Then the compiler resolves the calls, and the linker never sees
# them, except for clang with lld. That object must be compiled without -flto.
. tests/lib.sh

WRAPS=$(leakwrap_flags LEAKWRAP_LDFLAGS)
LLD_STATIC=$(leakwrap_flags LEAKWRAP_LLD_LDFLAGS)
C=$(leakwrap_flags LEAKWRAP_LDLIBS)
OPTIONS="-O2 -fno-pie -fno-omit-frame-pointer"

# link COMPILER LINKER KIND OBJECT...: links $W/program with link-time optimization.
link() {
	driver=$1 what="$1, $2, $3" linker=$2 kind=$3 wraps=$WRAPS
	shift 3
	# The allocator lacks memalign, with which newer lld brings in glibc's malloc.
	[ "$linker-$kind" != lld-static ] ||
		wraps="$wraps $LLD_STATIC -Wl,--allow-multiple-definition"
	# shellcheck disable=SC2086
	$driver $OPTIONS -flto -fuse-ld="$linker" -"$kind" -o "$W/program" "$@" $wraps $C \
		2>"$W/errors" ||
		fail "$what: does not link: $(cat "$W/errors")"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log=$W/log "$W/program" >"$W/out"
	status=$?
}

# Prints the calls from the program's own functions to an original.
escapes() {
	objdump -d --no-show-raw-insn "$W/program" | awk '
		/^[0-9a-f]+ <.*>:$/ { function_name = $2 }
		function_name ~ /^<(by_|nothing|vendor_|main)/ &&
			/ (call|jmp) .*<(malloc|calloc|realloc|free|strdup)(@plt)?>/ {
				print function_name, $NF
			}'
}

case $($CC -dumpmachine) in x86_64*) ;; *) skip "reads the machine code of x86-64" ;; esac

for cc in gcc clang; do
	command -v $cc >"$W/which" 2>&1 || {
		echo "left out: no $cc"
		continue
	}
	# shellcheck disable=SC2086
	{
		$cc $OPTIONS -flto -c -o "$W/lto.o" tests/link/lto.c &&
			$cc $OPTIONS -flto -c -o "$W/lto_vendor.o" tests/link/lto_vendor.c &&
			$cc $OPTIONS -fno-builtin -flto -c -o "$W/user.o" \
				tests/link/own_malloc_user.c &&
			$cc $OPTIONS -fno-builtin -flto -c -o "$W/own_lto.o" \
				tests/link/own_malloc.c &&
			$cc $OPTIONS -fno-builtin -fno-lto -c -o "$W/own.o" tests/link/own_malloc.c
	} || fail "$cc: cannot compile"

	for linker in bfd gold lld mold; do
		command -v "ld.$linker" >"$W/which" 2>&1 || {
			echo "left out: no ld.$linker"
			continue
		}
		case $cc-$linker in
		gcc-lld)
			echo "left out: lld does not read the objects of gcc -flto"
			continue
			;;
		clang-lld) ;;
		clang-*)
			plugin=$(clang -flto -fuse-ld="$linker" "$W/lto.o" '-###' 2>&1 |
				sed -n 's/.*"-plugin" "\([^"]*\)".*/\1/p')
			[ -z "$plugin" ] || [ -e "$plugin" ] || {
				echo "left out: clang, $linker: no $plugin"
				continue
			}
			;;
		esac
		for kind in no-pie static; do
			link "$cc" "$linker" "$kind" "$W/lto.o" "$W/lto_vendor.o"
			equal "$what: exit status" $status 5
			equal "$what: calls that escape" "$(escapes)" ""
			sed -n 's/^leaks //p' "$W/out" >"$W/leaks"
			while read -r function bytes blocks; do
				equal "$what: leaks of $function" \
					"$(site_by "$W/log" 1 "$function")" "$bytes $blocks"
			done <"$W/leaks"

			# The compiler chooses whether this allocator's calls escape, and its next
			# version may choose otherwise.
			link "$cc" "$linker" "$kind" "$W/user.o" "$W/own_lto.o"
			case $(site_by "$W/log" 1 by_malloc) in
			"300 1") ;;
			"0 0") echo "escapes: $what: malloc, defined with -flto" ;;
			*) fail "$what: allocator with -flto: $(site_by "$W/log" 1 by_malloc)" ;;
			esac
			link "$cc" "$linker" "$kind" "$W/user.o" "$W/own.o"
			equal "$what: allocator without -flto" \
				"$(site_by "$W/log" 1 by_malloc)" "300 1"
		done
	done
done
