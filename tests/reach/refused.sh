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

# no_kinds WHAT [ARGUMENT]: the program goes on, and its dump says that it has no kinds.
no_kinds() {
	status=0
	LEAKWRAP_OPTIONS="kinds=always:log=stderr" timeout 60 "$W/program" "$@" 2>"$W/log" ||
		status=$?
	[ $status -ne 77 ] || return 0
	equal "without $1: status" $status 0
	grep -q 'note lost memory is not told from reachable memory' "$W/log" ||
		fail "without $1: no note"
	equal "without $1: whole dumps" "$(dumps "$W/log" | wc -l)" 2
	rm "$W/log"
}

no_kinds addresses

LEAKWRAP_OPTIONS="kinds=never:log=$W/log" "$W/program" || fail "kinds=never: status $?"
! grep -q '] kinds \|note lost memory' "$W/log" || fail "kinds=never has kinds"
rm "$W/log"

# Without any block there are no kinds, and the reason is the true one.
for options in "record=0,recording is off, and no block is known" \
	"sample=1G,sampled blocks have no kind"; do
	LEAKWRAP_OPTIONS="${options%%,*}:log=$W/log" "$W/program" || fail "$options: status $?"
	equal "${options%%,*}" "$(dump_lines "$W/log" 2 | grep '^note ')" \
		"note lost memory is not told from reachable memory: ${options#*,}"
	rm "$W/log"
done

[ "$(id -u)" -eq 0 ] || skip "only root may change the root folder"
status=0
LEAKWRAP_OPTIONS="kinds=always:log=stderr" "$W/program" processes 2>"$W/log" || status=$?
equal "without processes: status" $status 0
equal "without processes" "$(kinds_of 1)" "40 in_place"
rm "$W/log"

# A cgroup with less memory than a scan takes. Where there is no cgroup to be had, that is left out.
for cgroup in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	cgroup=$cgroup/leakwrap.$$
	mkdir "$cgroup" 2>"$W/err" || continue
	no_kinds memory "$cgroup"
	wait_until 5 rmdir "$cgroup" 2>"$W/err" || echo "$cgroup stays"
	break
done
mkdir "$W/without_proc"
cp "$W/program" "$W/without_proc/"
LEAKWRAP_OPTIONS="kinds=always:log=stderr" chroot "$W/without_proc" /program 2>"$W/log" ||
	fail "without /proc: status $?"
grep -q 'note lost memory is not told from reachable memory' "$W/log" || fail "no note"
equal "without /proc" "$(own_sites "$W/log" 2)" "$(own_sites "$W/log" 1)"
