#!/bin/sh
# children= chooses the forked children that dump at their end: none, those with new blocks, or all.
#
# A dump by a signal shows all blocks, and says how many are from before the fork.
. tests/lib.sh

# run HOW CHILDREN: runs the program. Sets parent to its PID, and child to the dumps of its
# children.
run() {
	log=$W/$1.$2.log
	rm -f "$log"
	LEAKWRAP_OPTIONS=log=$log${2:+:children=$2} "$program" "$1" &
	parent=$!
	wait $parent || fail "$program $1: status $?"
	equal "$1 $2: dumps of the parent" "$(dumps "$log" | grep "^$parent\\.")" "$parent.1"
	equal "$1 $2: blocks of the parent" "$(site_by "$log" "$parent.1" allocate)" "5000 5"
	equal "$1 $2: the parent inherits" "$(dump_value "$log" "$parent.1" inherited_blocks)" ""
	child=$(dumps "$log" | grep -v "^$parent\\." | tr '\n' ' ')
	child=${child% }
}

# inherits DUMP BYTES BLOCKS HOW: checks the inherited blocks. In a static program the C library's
# blocks are inherited, too.
inherits() {
	[ "$program" = "$W/children" ] || return 0
	inherited=
	for key in inherited_bytes inherited_blocks inherited; do
		inherited="$inherited$(dump_value "$log" "$1" $key) "
	done
	equal "$1: inherited" "$inherited" "$2 $3 $4 "
}

# A child has not lost what its parent has lost, and nothing has failed in it.
cat >"$W/losses.c" <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wrap/leakwrap.h"

static void *volatile kept;

int main(void)
{
	int status = 1;
	void *block;

	leakwrap_fail_next(1);
	if (malloc(10))
		return 1;
	block = malloc(10);
	leakwrap_forget(block);
	free(block);
	if (fork() == 0)
		kept = malloc(20);
	else
		wait(&status);
	return 0;
}
END
build losses "$W/losses.c"
LEAKWRAP_OPTIONS=log=$W/losses.log "$W/losses" || fail "losses: status $?"
losses=
for dump in $(dumps "$W/losses.log"); do
	losses="$losses$(dump_value "$W/losses.log" "$dump" foreign_frees) "
	losses="$losses$(dump_value "$W/losses.log" "$dump" failures), "
done
equal "foreign frees and failures of child and parent" "$losses" "0 , 1 1, "

build children tests/process/children_dumps.c
build children-static -static tests/process/children_dumps.c
for program in "$W/children" "$W/children-static"; do
	for how in same other none; do
		run $how none
		equal "$how none: dumps" "$child" ""
		run $how all
		equal "$how all: dumps" "$(dumps "$log" | wc -l)" 2
	done
	equal "none all: blocks" "$(site_by "$log" "$child" allocate)" "5000 5"
	run at_once all
	equal "at_once all: dumps" "$child" ""

	for default in '' own; do
		for how in none freed; do
			run $how $default
			equal "$how: dumps" "$child" ""
		done
		run same $default
		equal "same: blocks" "$(site_by "$log" "$child" allocate)" "2000 2"
		equal "same: call sites" "$(dump_value "$log" "$child" sites)" 1
		inherits "$child" 5000 5 left_out
		run other $default
		equal "other: blocks" "$(site_by "$log" "$child" only_child)" "5000 1"
		equal "other: sites" "$(dump_value "$log" "$child" sites)" 1
		run grown $default
		equal "grown: blocks" "$(site_by "$log" "$child" grow)" "3000 1"
		inherits "$child" 4000 4 left_out
	done

	# One call site holds blocks from before and after the fork.
	run signal own
	equal "signal: dumps" "$child" "${child%%.*}.1 ${child%%.*}.2"
	equal "signal: blocks" "$(site_by "$log" "${child% *}" allocate)" "7000 7"
	equal "signal: call sites" "$(dump_sites "$log" "${child% *}" | grep -c ' allocate;')" 1
	inherits "${child% *}" 5000 5 included
	equal "signal: exit" "$(site_by "$log" "${child#* }" allocate)" "2000 2"

	# Thousands of children that keep the same blocks must not fill a disk. After 64 dumps only
	# a child with new blocks dumps.
	log=$W/many.log
	rm -f "$log"
	LEAKWRAP_OPTIONS=log=$log "$program" many &
	parent=$!
	wait $parent || fail "$program many: status $?"
	equal "many: dumps" "$(dumps "$log" | wc -l)" 66
	equal "many: the last child's" "$(site_by "$log" 1 only_child)" "5000 1"
	equal "many: silent" "$(dump_lines "$log" $parent.1 |
		grep -c '^note 16 forked children ended without')" 1

	# A child of the child inherits from both.
	run twice own
	grandchild=$(dumps "$log" | head -n 1)
	equal "twice: blocks" "$(site_by "$log" "$grandchild" allocate)" "8000 8"
	equal "twice: call sites" "$(dump_sites "$log" "$grandchild" | grep -c ' allocate;')" 1
	inherits "$grandchild" 7000 7 included
	equal "twice: exit" "$(site_by "$log" "${grandchild%.1}.2" allocate)" "1000 1"
done
