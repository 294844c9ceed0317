#!/bin/sh
# The tool finds a module's file by its build-id wherever it lies, and never takes another build.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need objcopy readelf

gcc_g="$CC -g -O2 -fno-optimize-sibling-calls -Wl,--build-id"
$gcc_g -o "$W/chain" tests/tool/chain.c || fail "cannot build"
sed 's/100/200/' tests/tool/chain.c >"$W/other.c"
$gcc_g -o "$W/other" "$W/other.c" || fail "cannot build"
id=$(build_id "$W/chain")
offset=$(return_address objdump "$W/chain" make_basket malloc)
mkdir -p "$W/sysroot/opt" "$W/debug/.build-id/$(echo "$id" | cut -c1-2)" "$W/unstripped"
log() {
	echo "1000 1 complete $offset" |
		make_dump 5.1 2026-11-20T18:36:01Z "$1" 0x55d0c8a00000 "$2" >"$W/log"
}
found() {
	status_is 0 "$lw" report "$@" "$W/log"
	shows 'chain.c:9 (inlined)'
}
raw() {
	status_is 0 "$lw" report "$@" "$W/log"
	shows '?  *chain+0x'
	shows 'module /opt/chain: left raw'
	shows_not 'chain.c'
}

# The file is found by the path in the dump, by --exe, and under a sysroot.
log "$W/chain" "$id"
found
[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
cp "$W/chain" "$W/kept"
status_is 2 "$lw" report -o "$W/chain" "$W/log"
said "$W/chain is an input of this command"
cmp -s "$W/chain" "$W/kept" || fail "-o destroyed the program"
log /opt/chain "$id"
raw
said "/opt/chain was not found (build-id $id); its frames stay raw (--exe names its file)$"
found --exe="$W/chain"
[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
cp "$W/chain" "$W/sysroot/opt/chain"
found --sysroot="$W/sysroot"

# Another build is named in a message, and not used.
raw --exe="$W/other"
said "other is another build of /opt/chain: the dump's build-id is $id"
cp "$W/other" "$W/sysroot/opt/chain"
raw --sysroot="$W/sysroot"
said "root/opt/chain is another build"
cp "$W/other" "$W/rebuilt"
log "$W/rebuilt" "$id"
status_is 0 "$lw" report "$W/log"
said "rebuilt is another build of what was traced: the dump's build-id is $id"
log /opt/chain "$id"
cp "$W/chain" "$W/nobuildid" && objcopy --remove-section=.note.gnu.build-id "$W/nobuildid"
raw --exe="$W/nobuildid"

# The device has a stripped file. Its symbols lie in a folder by build-id, or beside it under the
# same name.
by_id=$W/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
objcopy --only-keep-debug "$W/chain" "$by_id"
objcopy --strip-all "$W/chain" "$W/sysroot/opt/chain"
status_is 0 "$lw" report --sysroot="$W/sysroot" "$W/log"
shows_not 'chain.c'
found --sysroot="$W/sysroot" --debug-dir="$W/debug"
cp "$by_id" "$W/kept"
status_is 2 "$lw" report -o "$by_id" --sysroot="$W/sysroot" --debug-dir="$W/debug" "$W/log"
said "$by_id is an input of this command"
cmp -s "$by_id" "$W/kept" || fail "-o destroyed the file with the symbols"
found --debug-dir="$W/debug"
rm "$by_id"
mkdir -p "$W/by_name" "$W/sysroot/usr/lib/debug/.build-id" "$W/linked/.debug"
cp "$W/kept" "$W/by_name/chain.debug"
found --debug-dir="$W/by_name"
cp "$W/chain" "${by_id%.debug}"
found --debug-dir="$W/debug"
cp -r "${by_id%/*}" "$W/sysroot/usr/lib/debug/.build-id"
mv "$W/sysroot/usr/lib/debug/.build-id/${id%"${id#??}"}/${id#??}" "$W/elsewhere"
status_is 0 "$lw" report --sysroot="$W/sysroot" "$W/log"
shows_not 'chain.c'
cp "$W/kept" "$W/sysroot/usr/lib/debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
found --sysroot="$W/sysroot"
rm -r "$W/sysroot/usr"
# A link in the stripped file names them, too.
(cd "$W/linked" && cp "$W/kept" .debug/symbols && objcopy --strip-all \
	--add-gnu-debuglink=.debug/symbols "$W/chain" chain) || fail "cannot link to symbols"
found --exe="$W/linked/chain"
cp "$W/kept" "$by_id"
cp "$W/chain" "$W/unstripped/chain"
found --sysroot="$W/sysroot" --debug-dir="$W/unstripped"
cp "$W/other" "$W/unstripped/chain"
status_is 0 "$lw" report --sysroot="$W/sysroot" --debug-dir="$W/unstripped" "$W/log"
shows_not 'chain.c'

# A dump has no build-ids. The tool takes the named file, and marks it. It guesses nothing.
log /opt/chain none
found --exe="$W/chain"
said 'chain is not verified: the dump has no build-id of /opt/chain'
shows 'not verified, the dump has no build-id'
raw --debug-dir="$W/debug"
raw --debug-dir="$W/unstripped"

# Each digit of a build-id counts.
case $id in *0) near=${id%?}1 ;; *) near=${id%?}0 ;; esac
log /opt/chain "$near"
raw --exe="$W/chain"
raw --debug-dir="$W/unstripped"
log /opt/chain none

# A file has symbols without debug information, or neither; then the dump's own names are used.
$CC -O2 -fno-optimize-sibling-calls -Wl,--build-id -o "$W/plain" tests/tool/chain.c ||
	fail "cannot build"
log "$W/plain" "$(build_id "$W/plain")"
status_is 0 "$lw" report "$W/log"
shows 'make_basket  *plain+0x'
sed 's/ ? \[1\]/ _ZN3foo3barEi+0x12 [1]/' "$W/log" >"$W/named"
status_is 0 "$lw" report "$W/named"
shows 'make_basket  *plain+0x'
strip "$W/plain"
status_is 0 "$lw" report "$W/named"
shows 'foo::bar(int)  *plain+0x'

# The compiler was given the folder by a relative name. It stands in front of a file once.
for dwarf in 4 5; do
	(cd tests/tool && $CC -gdwarf-$dwarf -O2 -fno-optimize-sibling-calls -Wl,--build-id \
		-fdebug-prefix-map="$PWD"=shop \
		-o "$W/relative" chain.c) || fail "cannot build"
	echo "10 1 complete $(return_address objdump "$W/relative" make_basket malloc)" |
		make_dump 5.1 2026-11-20T18:36:01Z "$W/relative" 0x55d0c8a00000 \
			"$(build_id "$W/relative")" >"$W/log"
	status_is 0 "$lw" report "$W/log"
	shows ' shop/chain.c:9 (inlined)'
done

# The functions are in a file of their own (split DWARF). It is missed by name.
for dwarf in 4 5; do
	(cd "$W" && $CC -gdwarf-$dwarf -gsplit-dwarf -O2 -fno-optimize-sibling-calls \
		-Wl,--build-id -o split "$OLDPWD/tests/tool/chain.c") || fail "cannot build"
	echo "10 1 complete $(return_address objdump "$W/split" make_basket malloc)" |
		make_dump 5.1 2026-11-20T18:36:01Z "$W/split" 0x55d0c8a00000 \
			"$(build_id "$W/split")" >"$W/log"
	found
	[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
	for file in "$W"/*.dwo; do
		echo 'no ELF file' >"$file"
	done
	status_is 0 "$lw" report "$W/log"
	shows 'make_basket .*chain.c:'
	said 'split: its debug information is not whole (.*dwo cannot be read)'
	# It is there, too, if only the program was moved, or both were.
	mkdir "$W/moved$dwarf"
	for file in "$W/split" "$W"/*.dwo; do
		mv "$file" "$W/moved$dwarf"
		status_is 0 "$lw" report --exe="$W/moved$dwarf/split" "$W/log"
		said 'split: its debug information is not whole (.*dwo cannot be read)'
	done
	mv "$W/moved$dwarf/split" "$W"
	status_is 0 "$lw" report "$W/log"
	shows 'make_basket .*chain.c:'
	said 'split: its debug information is not whole (.*dwo was not found)'
done

# An elfutils that cannot decompress the debug information is told of.
(cd "$W" && $CC -g -O2 -fno-optimize-sibling-calls -Wl,--build-id -o packed \
	"$OLDPWD/tests/tool/chain.c") || fail "cannot build"
objcopy --compress-debug-sections=zlib "$W/packed" "$W/zipped" || fail "cannot compress"
log "$W/zipped" "$(build_id "$W/zipped")"
found
[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
if objcopy --compress-debug-sections=zstd "$W/packed" 2>"$W/err"; then
	echo "10 1 complete $(return_address objdump "$W/packed" make_basket malloc)" |
		make_dump 5.1 2026-11-20T18:36:01Z "$W/packed" 0x55d0c8a00000 \
			"$(build_id "$W/packed")" >"$W/log"
	status_is 0 "$lw" report "$W/log"
	if grep -q 'make_basket .*chain.c:' "$W/out"; then
		[ ! -s "$W/err" ] || fail "$(cat "$W/err")"
	else
		shows 'make_basket '
		said 'packed: its debug information is not whole (compressed .*objcopy'
	fi
else
	echo "left out: zstd: $(tail -n 1 "$W/err")"
fi

# A label inside a function does not name its code.
cat >"$W/label.S" <<'END'
	.globl outer
	.type outer, %function
outer:
	nop
	nop
	nop
	nop
inner:
	nop
	nop
	nop
	nop
	.size outer, . - outer
	.section .note.GNU-stack, "", %progbits
END
echo 'int main(void) { return 0; }' >"$W/label_main.c"
$CC -Wl,--build-id -o "$W/label" "$W/label_main.c" "$W/label.S" || fail "cannot build"
echo "10 1 complete $(add "0x$(nm "$W/label" | awk '/ inner$/ { print $1 }')" 2)" |
	make_dump 5.1 2026-11-20T18:36:01Z "$W/label" 0x55d0c8a00000 "$(build_id "$W/label")" \
		>"$W/labelled"
status_is 0 "$lw" report "$W/labelled"
shows 'outer  *label+0x'

# Code belongs to no function that ends where it begins. Code without a function has a place.
cat >"$W/behind.S" <<'END'
	.globl behind
behind:
	nop
	nop
	.section .note.GNU-stack, "", %progbits
END
echo 'int before(void); int before(void) { return 0; }' >"$W/before.c"
$CC -Os -g -c -o "$W/before.o" "$W/before.c" || fail "cannot build"
for flag in -g0 -g; do
	$CC $flag -Wl,--build-id -o "$W/adjacent" "$W/label_main.c" "$W/before.o" "$W/behind.S" ||
		fail "cannot build"
	echo "10 1 complete $(add "0x$(nm "$W/adjacent" | awk '/ behind$/ { print $1 }')" 1)" |
		make_dump 5.1 2026-11-20T18:36:01Z "$W/adjacent" 0x55d0c8a00000 \
			"$(build_id "$W/adjacent")" >"$W/log"
	status_is 0 "$lw" report "$W/log"
	case $flag in
	-g0) shows 'behind  *adjacent+0x' ;;
	*) shows 'behind .*behind.S:3$' ;;
	esac
done

# A function that the linker dropped, at address 0, does not name the code behind address 0.
{
	echo 'volatile int v; void dropped(void); void dropped(void) {'
	seq -f '	v *= %g;' 3 1500
	echo '} int main(void) { return 0; }'
} >"$W/dropped.c"
$CC -g -O1 -ffunction-sections -Wl,--gc-sections,--build-id -o "$W/dropped" "$W/dropped.c" ||
	fail "cannot build"
echo "10 1 complete $(add "0x$(nm "$W/dropped" | awk '/ _start$/ { print $1 }')" 8)" |
	make_dump 5.1 2026-11-20T18:36:01Z "$W/dropped" 0x55d0c8a00000 \
		"$(build_id "$W/dropped")" >"$W/log"
status_is 0 "$lw" report "$W/log"
shows '_start  *dropped+0x'

# The user asks for a file that is missing, or for another build beside the right file.
for option in exe sysroot debug-dir map; do
	status_is 2 "$lw" report --$option="$W/none" "$W/log"
	said -- "--$option=$W/none: No such file"
done
log "$W/chain" "$id"
status_is 0 "$lw" report --exe="$W/other" "$W/log"
shows 'chain.c:9 (inlined)'
said "other is another build of $W/chain; $W/chain is taken in its place"

# A dump was cut before its modules, but an earlier dump of the process has them. Without such a
# dump, the program is where the first line says.
log "$W/chain" "$id"
sed 's/5\.1/5.2/; /\] module /,$d' "$W/log" >"$W/later"
cat "$W/log" "$W/later" >"$W/both"
status_is 0 "$lw" report -f json "$W/both@2"
shows '"address":"0x55d0c8a[0-9a-f]*"'
shows '"line":9,'
said "chain is not verified: the dump has no build-id of it"
# A name without a slash is no path, even if there is a file of this name.
sed 's|program=.*|program=/elsewhere/other|' "$W/later" >"$W/bare"
(cd "$W" && "$lw" report -f json bare 2>err >out) || fail "a bare name"
shows_not '"line":9,'
said '^leakwrap: chain was not found'
status_is 0 "$lw" report --last -f json "$W/both"
shows "\"sequence\":2,.*\$" # the last dump
equal "found" "$(grep -c '"line":9,"inlined":true' "$W/out")" 1
equal "raw addresses" "$(grep -o '"address":"[^"]*"' "$W/out" | sort -u)" \
	"\"address\":\"$(add 0x55d0c8a00000 "$offset")\""

# A build-id may have any size.
for id in 0x12 0x1234 0x123456789abc; do
	# shellcheck disable=SC2046,SC2086 # lists of flags
	$gcc_g -Wl,--build-id=$id -o "$W/sized" tests/tool/chain.c \
		$(leakwrap_flags LEAKWRAP_LDFLAGS LEAKWRAP_LDLIBS) || fail "build-id $id"
	rm -f "$W/log"
	LEAKWRAP_OPTIONS=log="$W/log" "$W/sized" >"$W/out" 2>&1
	status_is 0 "$lw" report "$W/log"
	! grep 'another build' "$W/err" || fail "build-id $id"
	shows 'chain\.c:[0-9]'
done
