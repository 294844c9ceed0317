#!/bin/sh
# Stacks through hand-written assembly without unwind tables are right.
#
# A backtrace that is called complete has every frame. A backtrace that is called truncated is right
# as far as it goes.
. tests/lib.sh

[ "$(uname -m)" = x86_64 ] || skip "the assembly is for x86-64"
functions="bare pushes subtracts pushes_and_subtracts uses_rbp points_rbp with_frame_pointer
	keeps_returns branches jumps switches_stack aligns jumps_at_end jumps_to_another many_ways
	generated ends_with_call"

# The callers are built with and without frame pointers, with the marks of checked jumps, and
# without tables.
while read -r name flags; do
	# shellcheck disable=SC2086 # a list of flags
	build "$name" $flags tests/unwind/assembly.c tests/unwind/assembly.S
	LEAKWRAP_OPTIONS=depth=256 "$W/$name" 2>"$W/log" || fail "$name: status $?"
	dump_sites "$W/log" 1 | sed 's/;main;.*/;main;/' >"$W/sites"
	size=100
	for function in $functions; do
		case $function in
		jumps) frame= ;;
		generated) frame='\?;' ;;
		*) frame="$function;" ;;
		esac
		size=$((size + 1))
		awk -v size=$size '$1 == size * $2' "$W/sites" >"$W/mine"
		blocks=$(awk '{ blocks += $2 } END { print blocks }' "$W/mine")
		equal "$name, $function: blocks" "$blocks" 3
		while read -r _ _ kind frames; do
			case $function-$kind in
			jumps_at_end-complete | jumps_to_another-complete | many_ways-complete) ;;
			jumps_at_end-* | jumps_to_another-* | many_ways-*)
				fail "$name, $function: $kind $frames"
				;;
			esac
			case $kind in
			guessed) continue ;;
			complete) wanted="leak;${frame}via_$function;from_$function;main;" ;;
			truncated)
				wanted="leak;(${frame}(via_$function;(from_$function;(main;)?)?)?)?"
				;;
			esac
			echo "$frames" | grep -qEx "$wanted" ||
				fail "$name, $function: $kind $frames"
		done <"$W/mine"
	done
	echo "$name: $(awk '
		$4 ~ /^leak;/ { blocks[$3] += $2 }
		END { for (kind in blocks) print blocks[kind], kind }' "$W/sites" | tr '\n' ' ')"
done <<-END
	fp
	fp-static -static
	no-fp -fomit-frame-pointer
	no-fp-static -fomit-frame-pointer -static
	fp-cet -fcf-protection
	no-fp-cet -fomit-frame-pointer -fcf-protection
END

# The loader's trampoline for lazy binding computes sp from a register that the walk does not
# follow.
build_plain libresolver.so -shared -fPIC -fomit-frame-pointer tests/unwind/resolver.c
build lazy -DRESOLVER tests/unwind/assembly.c tests/unwind/assembly.S "$W/libresolver.so" \
	-Wl,-z,lazy -Wl,-rpath,"$W"
"$W/lazy" 2>"$W/log" || fail "lazy: status $?"
dump_sites "$W/log" 1 | awk '$1 == 118' >"$W/sites"
resolved='^118 1 (truncated leak;.*|guessed .*|complete leak;(\?;)+from_resolver;main;.*)$'
grep -qE "$resolved" "$W/sites" || fail "lazy: $(cat "$W/sites")"
echo "lazy binding: $(cat "$W/sites")"
