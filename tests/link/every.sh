#!/bin/sh
# Every wrapped function, called once, behaves as untraced, and its block stands at its caller.
#
# This holds in a dynamic and in a static program. The dump lists no freed block.
. tests/lib.sh

case $(${CC} -dumpmachine) in
x86_64*) ;;
*) skip "every.cpp has the mangled names of x86-64" ;;
esac
WRAPS=$(leakwrap_flags LEAKWRAP_LDFLAGS)
OPTIONS="-O2 -g -D_GNU_SOURCE -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin -w"

# -fno-builtin: the compiler removes neither leaks nor pairs of new and delete.
for source in every_run every_vendor every; do
	# shellcheck disable=SC2086
	$CC $OPTIONS -c -o "$W/$source.o" "tests/link/$source.c" || fail "cannot compile $source.c"
done
# shellcheck disable=SC2086
g++ -std=gnu++17 $OPTIONS -c -o "$W/everyxx.o" tests/link/every.cpp ||
	fail "cannot compile every.cpp"

# check PROGRAM: compares the traced with the untraced program, and the dump with the leaks.
check() {
	for way in leak free; do
		"$W/$1.plain" $way >"$W/plain.out" 2>&1
		equal "$1 $way: exit status untraced" $? 7
		rm -f "$W/log"
		LEAKWRAP_OPTIONS=log=$W/log "$W/$1" $way >"$W/traced.out" 2>&1
		equal "$1 $way: exit status" $? 7
		diff "$W/plain.out" "$W/traced.out" >"$W/difference" ||
			fail "$1 $way: behaves differently: $(cat "$W/difference")"
		dump_is_whole "$W/log" 1 || fail "$1 $way: no whole dump"

		dump_sites "$W/log" 1 | awk '{
			split($4, f, ";")
			if (f[1] ~ /^(called|by)_/)
				print f[1], $1, $2
		}' >"$W/sites"
		awk '$1 == "leaks" { print $2, $3, $4, $5 }' "$W/traced.out" >"$W/leaks"
		awk -v program="$1 $way" '
			NR == FNR { bytes[$1] += $2; blocks[$1] += $3; next }
			{
				wanted[$1]
				wrong = $4 == "exact" ? bytes[$1] + 0 != $2 : bytes[$1] + 0 < $2
				if (blocks[$1] + 0 != $3 || wrong) {
					printf "%s: %s: %d bytes in %d blocks, ", \
						program, $1, bytes[$1], blocks[$1]
					printf "wanted %s %d in %d\n", $4, $2, $3
					bad = 1
				}
			}
			END {
				for (f in bytes)
					if (!(f in wanted)) {
						printf "%s: %s: %d bytes in %d blocks ", \
							program, f, bytes[f], blocks[f]
						print "were not leaked"
						bad = 1
					}
				exit bad
			}' "$W/sites" "$W/leaks" || exit 1
		case $way in leak) [ -s "$W/leaks" ] || fail "$1 leaks nothing" ;; esac
		equal "$1 $way: freed_elsewhere_blocks" \
			"$(dump_value "$W/log" 1 freed_elsewhere_blocks)" 0
		equal "$1 $way: untracked_blocks" "$(dump_value "$W/log" 1 untracked_blocks)" 0
		# In a dynamic program libc's own blocks may come to free unrecorded, but not in
		# this program.
		equal "$1 $way: foreign_frees" "$(dump_value "$W/log" 1 foreign_frees)" 0
	done
}

for kind in dynamic static; do
	case $kind in dynamic) flag="" ;; static) flag="-static" ;; esac
	C=$(leakwrap_flags LEAKWRAP_LDLIBS)
	CXX=$(leakwrap_flags LEAKWRAP_CXX_LDLIBS)
	# glibc warns of tempnam, which this test ignores.
	# shellcheck disable=SC2086
	{
		run=$W/every_run.o vendor=$W/every_vendor.o
		$CC $flag -o "$W/c_$kind" "$W/every.o" $run $vendor $WRAPS $C 2>"$W/errors" &&
			$CC $flag -o "$W/c_$kind.plain" "$W/every.o" $run $vendor 2>"$W/errors" &&
			g++ $flag -o "$W/cxx_$kind" "$W/everyxx.o" $run $WRAPS $CXX 2>"$W/errors" &&
			g++ $flag -o "$W/cxx_$kind.plain" "$W/everyxx.o" $run 2>"$W/errors"
	} || fail "$kind: cannot link: $(cat "$W/errors")"
	check "c_$kind"
	check "cxx_$kind"
done

# The two programs together call every symbol of the list, except for the variants whose size_t is
# an unsigned int.
for family in malloc string line path list memstream cxx; do
	leakwrap_flags "LEAKWRAP_SYMBOLS_$family" | tr ' ' '\n'
done | grep -v '^_Zn[wa]j\|^_Zd[la]Pvj' | sort >"$W/listed"
{
	"$W/c_dynamic.plain" free
	"$W/cxx_dynamic.plain" free
} | sed -n 's/^called //p' | sort >"$W/called"
diff "$W/listed" "$W/called" >"$W/difference" ||
	fail "listed (<) and called (>): $(cat "$W/difference")"
