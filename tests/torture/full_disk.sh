#!/bin/sh
# Torture on a disk that becomes full ends with a message, finds nothing wrongly and misses nothing
# silently, and goes on when there is room again.
. tests/lib.sh
. tests/tool/tool.sh
need unshare
unshare -rm true 2>"$W/which" || skip "no user namespaces: $(cat "$W/which")"

$CC -O2 -g -c -o "$W/library.o" tests/tool/torture_library.c || fail "cannot build the library"
build bugs tests/tool/torture.c "$W/library.o"
mkdir "$W/small"

# in_small KIB COMMAND...: runs a command with a disk at $W/small that has KIB left.
cat >"$W/in_small" <<'END'
mount -t tmpfs -o size=96k tmpfs "$1" 2>/dev/null || exit 99
head -c "$((96 - $2))k" /dev/zero >"$1/fill"
folder=$1 lw=$3 program=$4 engine=$5
"$lw" torture --engine="$engine" --jobs=1 --state="$folder/state" -- "$program" leak,library
echo "status $?"
rm "$folder/fill"
"$lw" torture --engine="$engine" --jobs=1 --state="$folder/state" -- "$program" leak,library
echo "then status $?"
END
full=0
for engine in rerun fork; do for left in 0 4 8 16 24; do
	unshare -rm sh "$W/in_small" "$W/small" $left "$lw" "$W/bugs" $engine >"$W/out" 2>&1
	[ $? != 99 ] || skip "no file system can be mounted here"
	if grep -q '^status 2$' "$W/out"; then
		shows 'No space left on device$\|is cut short: is the disk full?$'
		full=$((full + 1))
	else
		shows '^status 1$'
		equal "findings, $left KiB" "$(grep -c '^  2 findings$' "$W/out")" 2
	fi
	shows '^then status 1$'
	shows '^  2 findings$'
	! pgrep -f "^$W/bugs" || fail "a process is left behind"
done done
[ $full -ge 4 ] || fail "only $full of 10 tortures met a full disk"
