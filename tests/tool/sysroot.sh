#!/bin/sh
# With --sysroot, no path of a dump and no symbolic link leads to a file outside of the sysroot.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need objdump readelf

$CC -g -O2 -fno-optimize-sibling-calls -Wl,--build-id -o "$W/chain" tests/tool/chain.c ||
	fail "cannot build"
id=$(build_id "$W/chain")
offset=$(return_address objdump "$W/chain" make_basket malloc)
root=$W/root
mkdir -p "$root/opt/lib" "$root/usr/bin"

report() {
	echo "1000 1 complete $offset" |
		make_dump 5.1 2026-11-20T18:36:01Z "$1" 0x55d0c8a00000 "$id" >"$W/log"
	status_is 0 "$lw" report --sysroot="$root" "$W/log"
}
found() {
	report "$1"
	shows 'chain.c:9 (inlined)'
}
raw() {
	report "$1"
	shows 'left raw, no file'
	said 'was not found .*under the sysroot'
}

# A folder is a folder, and the program an ELF file.
for option in sysroot debug-dir; do
	status_is 2 "$lw" report --$option=/etc/passwd "$W/none"
	said ": --$option=/etc/passwd: Not a directory$"
done
for file in /etc /etc/passwd; do
	status_is 2 "$lw" report --exe=$file "$W/none"
	said ": --exe=$file: no ELF file$"
done

# Out of the sysroot by "..", and by links of either kind.
up=/..
for level in 1 2 3 4 5 6 7 8 9 10 11 12; do
	raw "$up$W/chain"
	up=$up/..
	[ $level != 6 ] || up=/opt/lib/$up
done
raw "/../chain"
raw "../chain"
ln -s "$W/chain" "$root/opt/absolute"
ln -s ../../chain "$root/opt/relative"
ln -s ../../.. "$root/opt/folder"
ln -s loop "$root/opt/loop"
raw /opt/absolute
raw /opt/relative
raw /opt/folder/chain
raw /opt/loop
raw /opt/loop/chain

# In the sysroot the same links lead to what they name there.
cp "$W/chain" "$root/chain"
for path in /chain chain /../chain ../chain /opt/../chain /opt/./lib//../../chain /opt/relative \
	/opt/folder/chain; do
	found "$path"
done
mv "$root/chain" "$root/usr/bin/chain"
ln -s /usr/bin "$root/bin"
ln -s /bin/chain "$root/opt/lib/chain"
ln -s ./lib "$root/opt/lib64"
for path in /bin/chain /opt/lib/chain /opt/lib64/chain /bin/../bin/chain; do
	found "$path"
done
folder=$root/vendor/debug/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$folder" "$root/usr/lib"
mv "$root/usr/bin/chain" "$folder/$(echo "$id" | cut -c3-).debug"
ln -s /vendor/debug "$root/usr/lib/debug"
found /opt/gone
