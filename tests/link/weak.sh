#!/bin/sh
# LEAKWRAP_WEAK names exactly the wrapped functions that the static C library defines weakly.
#
# lld needs the list.
. tests/lib.sh

LC_ALL=C
export LC_ALL
archive=$($CC -print-file-name=libc.a)
[ -f "$archive" ] || skip "no static C library"
case $($CC -dumpmachine) in *-gnu*) ;; *) skip "the list is glibc's" ;; esac

leakwrap_flags LEAKWRAP_SYMBOLS | tr ' ' '\n' | sort >"$W/listed"
leakwrap_flags LEAKWRAP_WEAK | tr ' ' '\n' | sort >"$W/said"
nm -g --defined-only "$archive" 2>"$W/errors" |
	awk 'NF == 3 && $2 ~ /[WV]/ { print $3 }' | sort -u | comm -12 - "$W/listed" >"$W/weak"
[ -s "$W/weak" ] || fail "$archive defines nothing weakly: was it read?"
diff "$W/said" "$W/weak" >"$W/difference" ||
	fail "LEAKWRAP_WEAK (<) and $archive (>): $(cat "$W/difference")"
