#!/bin/sh
# Any subset of the wraps links and runs, with every linker, dynamic and static.
#
# Subsets are each symbol alone, in both spellings of the option, and halves of the list that a
# fixed seed draws. The last subset has the three symbols that everybody begins with, without any
# other flag.
. tests/lib.sh

OPTIONS="-O2 -D_GNU_SOURCE -fno-pie -fno-omit-frame-pointer -fno-builtin -w"
C=$(leakwrap_flags LEAKWRAP_LDLIBS)
SYMBOLS=$(leakwrap_flags LEAKWRAP_SYMBOLS)
EVERY_C=" $(sed -n 's/.*globl __wrap_\([A-Za-z0-9_]*\).*/\1/p' "$O/every_c.c" | tr '\n' ' ') "

for source in every_run every_vendor every leaks; do
	# shellcheck disable=SC2086
	$CC $OPTIONS -c -o "$W/$source.o" "tests/link/$source.c" || fail "cannot compile $source.c"
done
EVERY="$W/every.o $W/every_run.o $W/every_vendor.o"

# link WHAT FLAG...: links $W/program. It ignores glibc's warnings of tempnam.
link() {
	what=$1
	shift
	# shellcheck disable=SC2086
	$CC "$@" -o "$W/program" 2>"$W/errors" || fail "$what: does not link: $(cat "$W/errors")"
}

# runs_as PLAIN WHAT: the program frees everything and prints the same as the untraced program.
runs_as() {
	LEAKWRAP_OPTIONS=log=/dev/null "$W/program" free >"$W/out" 2>&1
	equal "$2: exit status" $? 7
	cmp "$1" "$W/out" || fail "$2: behaves differently"
}

# shellcheck disable=SC2086 # EVERY and C are lists
{
	for kind in no-pie static; do
		link "untraced, $kind" -$kind $EVERY
		"$W/program" free >"$W/$kind.out" 2>&1
		equal "untraced, $kind: exit status" $? 7
	done

	count=0
	for symbol in $SYMBOLS; do
		count=$((count + 1))
		wrap=-Wl,--wrap=$symbol
		[ $((count % 2)) = 0 ] || wrap=-Wl,--wrap,$symbol
		link "$symbol alone" -no-pie $EVERY $wrap "$O/libleakwrap.a"
		runs_as "$W/no-pie.out" "$symbol alone"
	done

	for linker in bfd gold lld mold; do
		command -v "ld.$linker" >"$W/which" 2>&1 || {
			echo "left out: no ld.$linker"
			continue
		}
		for seed in 1 2 3; do
			for kind in no-pie static; do
				what="half $seed, $linker, $kind"
				half=$(echo "$SYMBOLS" | tr ' ' '\n' |
					awk -v seed=$seed 'BEGIN { srand(seed) } rand() < 0.5')
				wraps=
				for symbol in $half; do
					wraps="$wraps -Wl,--wrap=$symbol"
					# lld needs it, see LEAKWRAP_LLD_LDFLAGS. gold looks for
					# the imports of shared libraries.
					case $linker-$kind-$EVERY_C in
					lld-static-*" $symbol "*)
						wraps="$wraps -Wl,-u,__wrap_$symbol"
						;;
					esac
				done
				[ $linker != gold ] || wraps="$wraps -Wl,--allow-shlib-undefined"
				link "$what" -fuse-ld=$linker -$kind $EVERY $wraps $C
				runs_as "$W/$kind.out" "$what"
			done
		done

		link "three symbols, $linker" -fuse-ld=$linker -no-pie "$W/leaks.o" \
			-Wl,--wrap,malloc -Wl,--wrap,free -Wl,--wrap,realloc "$O/libleakwrap.a"
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log "$W/program" >"$W/out"
		equal "three symbols, $linker: exit status" $? 5
		equal "three symbols, $linker: by_malloc" "$(site_by "$W/log" 1 by_malloc)" "700 7"
		equal "three symbols, $linker: by_realloc" \
			"$(site_by "$W/log" 1 by_realloc)" "100000 1"
		equal "three symbols, $linker: nothing" "$(site_by "$W/log" 1 nothing)" "0 0"
	done
}
