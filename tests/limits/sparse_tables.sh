#!/bin/sh
# A dump reads only the written pages of the tables, and finds every block.
#
# It takes no memory for the other pages. This also holds if the system does not tell which pages
# were written.
. tests/lib.sh

build sparse tests/limits/sparse_tables.c
"$W/sparse" 2>"$W/log" || fail "status $?"
first=$(dump_value "$W/log" 1 tracer_bytes)
for n in 2 3 4; do
	now=$(dump_value "$W/log" $n tracer_bytes)
	[ "$now" -lt $((first + 500000)) ] ||
		fail "the tracer's memory grew from $first to $now bytes by a dump"
	equal "dump $n" "$(site_by "$W/log" $n main)" "$((1024 * 1024 * 1024 + 1024 * 100)) 2048"
done

# In a jail there is no /proc. A static C library holds a few blocks of its own.
chroot / true 2>"$W/which" || skip "chroot needs root"
mkdir "$W/jail"
build sparse.static -static tests/limits/sparse_tables.c
cp "$W/sparse.static" "$W/jail/sparse"
chroot "$W/jail" /sparse 2>"$W/log" || fail "in a chroot: status $?"
for n in 1 2 3 4; do
	blocks=$(dump_value "$W/log" $n live_blocks)
	if [ "$blocks" -lt 2048 ] || [ "$blocks" -gt 2058 ]; then
		fail "dump $n in a chroot: $blocks blocks"
	fi
done
