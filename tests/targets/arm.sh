# shellcheck shell=sh disable=SC2034,SC2154 # variables of target.sh and of the tests
# arm.sh - tests one target of 32-bit ARM: compilers and instruction sets, mixed in one program.
# Sourced after tests/targets/target.sh.

# arm TRIPLE: tests the target TRIPLE, with hard or soft float.
arm() {
	target "$1" qemu-arm
	clang="clang --target=$triple"
	command -v clang >/dev/null || clang=

	# Every kind of code in the program meets every kind of code in the archive, with tables.
	for code in "$gcc -marm" "$gcc -mthumb" ${clang:+"$clang -marm" "$clang -mthumb"}; do
		# shellcheck disable=SC2086 # a compiler and its flags
		program $code -funwind-tables
		for other in "$gcc -marm" "$gcc -mthumb" \
			${clang:+"$clang -marm" "$clang -mthumb"}; do
			# shellcheck disable=SC2086
			vendor $other -funwind-tables
			for how in "" -static; do
				# shellcheck disable=SC2086
				relink "$gcc" $how
				if [ "$code" = "$other" ]; then
					everything "program $code, vendor $other $how"
				else
					leaks "program $code, vendor $other $how"
				fi
			done
		done
	done

	# By default the compilers write no tables for C.
	for code in "$gcc -marm" "$gcc -mthumb"; do
		# shellcheck disable=SC2086
		{
			program $code
			vendor $code
		}
		for how in "" -static; do
			# shellcheck disable=SC2086
			relink "$gcc" $how
			leaks "$code, without tables, $how"
		done
	done
	echo "$tried programs"
}
