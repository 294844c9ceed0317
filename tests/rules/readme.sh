#!/bin/sh
# The README says what the program says: the table of options is the one that help=1 prints, every public
# function of leakwrap.h is in it, and so is every make target it names in the Makefile.
. tests/lib.sh

build puts tests/link/puts.c
LEAKWRAP_OPTIONS=help=1:exit=0 "$W/puts" 2>"$W/help" >/dev/null
sed -n 's/^leakwrap:   \([a-z_]*\)=\(.*\)  (\(.*\))  \(.*\)$/\1|\2|\3|\4/p' "$W/help" >"$W/said"
# shellcheck disable=SC2016 # backquotes of the README
sed -n 's/^| `\([a-z_]*\)` | `\(.*\)` | \(.*\) | \(.*\) |$/\1|\2|\3|\4/p' README.md >"$W/written"
[ -s "$W/said" ] || fail "help=1 says nothing"
diff "$W/said" "$W/written" || fail "the README's table of options differs from help=1"

sed -n 's/^LEAKWRAP_API .*\(leakwrap_[a-z_]*\)(.*/\1/p' wrap/leakwrap.h >"$W/functions"
[ -s "$W/functions" ] || fail "leakwrap.h has no functions"
while read -r function; do
	grep -q "$function" README.md || fail "$function is not in the README"
done <"$W/functions"

grep -o '`make [a-z]*' README.md | cut -d' ' -f2 | grep . | sort -u >"$W/targets"
while read -r target; do
	grep -qE "^$target:" Makefile wrap/*.mk tools/*.mk tests/*.mk || fail "make $target is no target"
done <"$W/targets"
