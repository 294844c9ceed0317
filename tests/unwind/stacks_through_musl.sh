#!/bin/sh
# Stacks through musl, which has neither unwind tables nor frame pointers, are right.
#
# Musl's start code has neither, too. A backtrace that is called complete has every frame. A
# backtrace that is called truncated is right as far as it goes. The tracer recognizes stacks that
# end in musl's start code when they come again.
# timeout: 400
. tests/lib.sh

command -v musl-gcc >/dev/null || skip "musl is not installed"
runtime x86_64-linux-musl CC=musl-gcc
CC=musl-gcc

# build_musl NAME SOURCE FLAG...: builds $W/NAME, traced.
build_musl() {
	name=$1
	shift
	# shellcheck disable=SC2046 # lists of flags
	$CC -O2 -I. -o "$W/$name" "$@" \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS |
			of_runtime) -pthread ||
		fail "cannot build $name"
}

# On i386 the code of musl's start shows less, and the last frames are guessed.
whole=complete
case $($CC -dumpmachine) in i?86-*) whole='(complete|guessed)' ;; esac
prefix='^leak;(compare;([a-z_?]*;)*)?((sorts|searches);)?(use;.*)?$'
# Musl's own functions have names in static programs only, and their callers may change.
while read -r name flags; do
	# shellcheck disable=SC2086 # a list of flags
	build_musl "$name" $flags tests/unwind/stacks_through_musl.c
	LEAKWRAP_OPTIONS=depth=256 "$W/$name" 2>"$W/log" || fail "$name: status $?"
	dump_sites "$W/log" 1 >"$W/sites"
	# Stacks that are truncated early share one call site.
	! grep -E ' complete leak;' "$W/sites" |
		grep -vE ';(main|in_thread|before_main);' >"$W/mine" ||
		fail "$name: $(cat "$W/mine")"
	for root in 100:main 200:in_thread 300:before_main; do
		first=${root%:*}
		root=use\;${root#*:}
		for how in leak "leak;compare;([a-z_?]*;)*sorts" \
			'leak;compare;(bsearch|\?);searches'; do
			awk -v size="$first" '$1 == size * $2' "$W/sites" >"$W/mine"
			while read -r _ _ kind frames; do
				case $kind in
				complete) echo "$frames" | grep -qE "^$how;$root;" ;;
				truncated)
					echo "$frames" | grep -qE "$prefix"
					;;
				esac || fail "$name: $first $kind $frames"
			done <"$W/mine"
			first=$((first + 1))
		done
	done
	grep -qE " $whole leak;use;main;" "$W/sites" || fail "$name: $(cat "$W/sites")"
	awk -v name="$name" '
		$4 ~ /^leak/ { blocks[$3] += $2 }
		END {
			printf "%s:", name
			for (kind in blocks)
				printf " %d %s", blocks[kind], kind
			print ""
		}' "$W/sites"
done <<-END
	no-fp
	no-fp-static -static
	fp -fno-omit-frame-pointer
	fp-static -fno-omit-frame-pointer -static
END

for how in pie no-pie static static-pie; do
	build_musl "recognized-$how" "-$how" tests/unwind/recognized.c
	equal "recognized-$how: walks" "$(LEAKWRAP_OPTIONS=exit=0 "$W/recognized-$how")" "0 0"
done
