#!/bin/sh
# A module whose path is a FIFO, a device or a folder is not opened, and nothing waits for it.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need timeout mkfifo

mkfifo "$W/fifo" || fail "no FIFO"
mkdir "$W/debug"
ln -s ../fifo "$W/debug/chain"
for path in "$W/fifo" "$W/debug/chain" /dev/zero /dev/tty /dev/stdin "$W"; do
	echo "100 1 complete 0x10" |
		make_dump 7.1 2026-11-20T18:36:01Z "$path" 0x10000 none >"$W/log"
	status_is 0 timeout 20 "$lw" report "$W/log"
	said "^leakwrap: $path was not found"
done

echo "100 1 complete 0x10" |
	make_dump 7.1 2026-11-20T18:36:01Z /no/such/chain 0x10000 abcdef >"$W/log"
status_is 0 timeout 20 "$lw" report --debug-dir="$W/debug" "$W/log"
shows '100 bytes'
status_is 2 timeout 20 "$lw" report --exe="$W/fifo" "$W/log"
said 'fifo: no ELF file$'
status_is 2 timeout 20 "$lw" audit "$W/fifo"
said 'fifo is no linked ELF program or library$'
