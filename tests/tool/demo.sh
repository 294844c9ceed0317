#!/bin/sh
# The demo shows reports with file and line, growth, and the path of a page.
#
# Without the tool it shows dumps.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

has() {
	grep -q -e "$1" "$W/out" || fail "the demo does not show '$1': $(tail -n 40 "$W/out")"
}

# The line in FUNCTION of the demo's server that allocates.
line=$(awk '/^static .* greet_client/ { inside = 1 } inside && /malloc/ { print NR; exit }' \
	tests/demo/lua_server.c)

tests/demo/run >"$W/out" 2>&1 || fail "status $?: $(tail -n 5 "$W/out")"
has "greet_client  *./tests/demo/lua_server.c:$line\$"
has 'grows steadily by 51,200 bytes'
has 'bytes here  *blocks'
! grep -q '^ *leakwrap\[' "$W/out" || fail "the demo shows raw dumps"
# The documents show what it prints here: numbers depend on the libraries of the system.
case $(cat /etc/debian_version 2>/dev/null)-$(uname -m) in
12.*-x86_64)
	grep -e ' live in ' -e '^  #1 ' README.md >"$W/shown"
	equal "numbers in README.md" "$(wc -l <"$W/shown")" 2
	while read -r line; do has "^ *$line\$"; done <"$W/shown"
	line=$(sed -n 's/.* total live_bytes=\([0-9]*\) live_blocks=\([0-9]*\) .*/\1 \2/p' \
		wrap/man/leakwrap-dump.5)
	equal "total in leakwrap-dump(5)" "$line" \
		"$(sed -n '1s/^ *\([0-9,]*\) bytes .* in \([0-9]*\) blocks .*/\1 \2/p' "$W/shown" |
			tr -d ,)"
	;;
esac
# Dumps of the same second have no rate.
blocks=': 25,600 to 76,800 bytes in 75 blocks$'
rate=', [0-9.]* [KMGi]*B an hour'
has "grows steadily by 51,200 bytes\($rate\)\{0,1\}$blocks"
grep -q "grows steadily by 51,200 bytes$rate$blocks" tools/man/leakwrap.1 ||
	fail "leakwrap(1) shows another growth"
page=$(sed -n 's/.*the page, for a browser: //p' "$W/out")
grep -q greet_client "$page" || fail "no page in '$page'"

# The tool's libraries are missing.
mkdir "$W/without"
for part in built-by lacks wrap report entry include demo libleakwrap.a; do
	cp -a "$O/$part" "$W/without/" || fail "no $part"
done
(
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s O="$W/without" CC="$CC" HOSTCC="cc -nostdinc" demo >"$W/out" 2>&1
) || fail "make demo without the tool: $(tail -n 5 "$W/out")"
has '^The leakwrap tool is not built: dumps are shown as they are'
has '^  leakwrap\[[0-9]*\.1\]   #0 .* greet_client+0x'
has '^  greet_client  *102400 bytes in 100 blocks'
! grep -q 'for a browser' "$W/out" || fail "a page without the tool"
