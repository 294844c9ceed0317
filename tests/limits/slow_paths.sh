#!/bin/sh
# On coroutines and other stacks, far down a stack, in two heaps, and with backtraces of one frame,
# allocations are recognized: they need no walk and no system call.
. tests/lib.sh

build paths tests/limits/slow_paths.c tests/limits/tracer_calls.c -Wl,--wrap=leakwrap_call_kernel
failed=

# recognizes CASE [OPTION]: 10,000 allocations need few walks and few system calls.
recognizes() {
	LEAKWRAP_OPTIONS="exit=0${2:+:$2}" "$W/paths" "$1" >"$W/out" || fail "$1: status $?"
	read -r walks calls <"$W/out"
	echo "$1: $walks walks, $calls system calls"
	[ "$walks" -le 100 ] && [ "$calls" -le 100 ] || failed="$failed $1"
}

recognizes coroutines
recognizes called
recognizes deep
recognizes thread
recognizes heaps
recognizes shallow depth=1
[ -z "$failed" ] || fail "not recognized:$failed"

# What is remembered of a stack is not believed when a smaller stack takes its place.
"$W/paths" smaller 2>"$W/smaller" >/dev/null || fail "smaller: status $?"
# For i386 glibc has a name there.
equal "leaks on smaller stacks" \
	"$(dump_sites "$W/smaller" 1 | grep 'complete leak;' | sed 's/makecontext;$/?;/')" \
	"39000 39 complete leak;cross_page;leak_and_pair;?;"
"$W/paths" rooms 2>"$W/rooms" >/dev/null || fail "rooms: status $?"
equal "leaks beside rooms" \
	"$(dump_sites "$W/rooms" 1 | grep 'complete leak_beside_room;' | sort | cut -d';' -f1,2)" \
	"1000 2 complete leak_beside_room;leaks_beside_room
1000 2 complete leak_beside_room;leaks_beside_room"
# What is remembered of a stack counts with the caller on the thread's stack, and in that thread.
case $($CC -dumpmachine) in
x86_64-*) wanted='100 leak;call_on;first_caller;call_in_turn
100 leak;call_on;second_caller;call_in_turn' ;;
*) wanted= ;;
esac
"$W/paths" callers 2>"$W/callers" >/dev/null || fail "callers: status $?"
equal "leaks by caller" "$(dump_sites "$W/callers" 1 |
	sed -n 's/^[0-9]* \([0-9]*\) complete \(leak;.*;call_in_turn\);.*/\1 \2/p' |
	awk '{ blocks[$2] += $1 } END { for (site in blocks) print blocks[site], site }' |
	sort)" "$wanted"
# A frame pointer is only believed where the frame is known to have one.
LEAKWRAP_OPTIONS=unwind=fp "$W/paths" far_fp 2>"$W/far_fp" >/dev/null || fail "far_fp: status $?"
