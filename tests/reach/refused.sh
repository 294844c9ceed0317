#!/bin/sh
# Where the system refuses to copy the process, or hides its mappings, a dump finds lost memory
# nevertheless or says that it cannot, and the program goes on.
. tests/lib.sh

build program tests/reach/refused.c -static

# kinds_of DUMP: prints the lost blocks of the dump, and how they were found.
kinds_of() {
	echo "$(dump_value "$W/log" "$1" definite_bytes) $(dump_value "$W/log" "$1" scanned)"
}

LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/program" || fail "status $?"
equal "nothing refused" "$(kinds_of 1)" "40 copy"
equal "nothing refused, at exit" "$(kinds_of 2)" "40 in_place"
rm "$W/log"

status=0
LEAKWRAP_OPTIONS="kinds=always:log=$W/log" "$W/program" clone || status=$?
if [ $status -ne 77 ]; then
	equal "without clone: status" $status 0
	equal "without clone" "$(kinds_of 1)" "40 in_place"
	rm "$W/log"
fi

LEAKWRAP_OPTIONS="kinds=never:log=$W/log" "$W/program" || fail "kinds=never: status $?"
! grep -q '] kinds \|note lost memory' "$W/log" || fail "kinds=never has kinds"
rm "$W/log"

[ "$(id -u)" -eq 0 ] || skip "only root may change the root folder"
mkdir "$W/without_proc"
cp "$W/program" "$W/without_proc/"
LEAKWRAP_OPTIONS="kinds=always:log=stderr" chroot "$W/without_proc" /program 2>"$W/log" ||
	fail "without /proc: status $?"
grep -q 'note lost memory is not told from reachable memory' "$W/log" || fail "no note"
equal "without /proc" "$(dump_value "$W/log" 2 live_bytes)" "$(dump_value "$W/log" 1 live_bytes)"
