#!/bin/sh
# A cross build makes the runtime for the target and the tool for this machine.
#
# It needs nothing but the cross compiler and uthash.h. The installed files serve the target. The
# section of leakwrap(7) for boards works as written.
# timeout: 300
. tests/lib.sh
. tests/targets/target.sh

target arm-linux-gnueabihf qemu-arm
command -v pkg-config >/dev/null || skip "pkg-config is not installed"

# The runtime, which tests share, was built with only one tool chain in PATH.
readelf -h "$lib" | grep Machine: | sort -u >"$W/machines"
equal "machines in the archive" "$(sed 's/.*: *//' "$W/machines")" ARM
foreign=$(cat "${lib%/*}"/*/*.d "${lib%/*}"/*/*/*.d | tr ' ' '\n' |
	grep -v '^/usr/\(lib/gcc-cross/\|arm-linux-gnueabihf/\)' |
	grep '^/' | grep -v "^${lib%/*}/" | sort -u)
equal "headers of this machine" "$foreign" ""

# The tool's objects are made by one rule, so one of them is compiled for this machine again.
cp -a "${lib%/*}" "$W/alone"
cp -a "$O/tools" "$W/alone" || fail "there are no objects of the tool"
rm "$W/alone/tools/base/memory.o"

# The section of leakwrap(7). A line that begins with "board# " runs on the board, whose / is
# rootfs.
mkdir -p "$W/rootfs/opt" "$W/rootfs/lib" "$W/rootfs/tmp"
for file in ld-linux-armhf.so.3 libc.so.6 libgcc_s.so.1; do
	cp "/usr/$triple/lib/$file" "$W/rootfs/lib" || fail "no $file"
done
ln -s "$PWD" "$W/leakwrap"
program "$gcc" -funwind-tables
vendor "$gcc"
mv "$W/program.o" "$W/app.o"
cat >"$W/board" <<'END'
# board COMMAND LINE: runs the command with rootfs as /, and fetches its log.
set -e
command=$(echo "$1" |
	sed "s|log=/|log=$PWD/rootfs/|; s| /opt/| qemu-arm -L $PWD/rootfs $PWD/rootfs/opt/|")
eval "$command leaks"
for log in rootfs/tmp/*.log; do
	sed "s|$PWD/rootfs/|/|g" "$log" >"${log##*/}"
done
END
# In the page, commands are indented deeper than sentences.
manual_text wrap/man/leakwrap.7 >"$W/manual"
sed -n '/^EMBEDDED LINUX/,/libgcc_s/p' "$W/manual" | sed -n 's/^ \{11\}//p' |
	sed 's|^board# \(.*\)|sh ./board "\1"|' >"$W/commands"
[ -s "$W/commands" ] || fail "leakwrap(7) has no section for boards"
(
	unset MAKEFLAGS MFLAGS CC AR
	cd "$W" && O=$W/alone sh -e ./commands
) >"$W/all" 2>&1 || fail "the commands of leakwrap(7): $(tail -n 5 "$W/all")"

# Both reports read the board's paths in the log, and find names and lines in this machine's files.
grep -c 'vendor.c:' "$W/all" | grep -q '^[1-9]' ||
	fail "the reports have no lines: $(tail -n 30 "$W/all")"
"$W/arm/bin/leakwrap" report --all --sysroot="$W/rootfs" --exe="$W/app" "$W/app.log" >"$W/report" ||
	fail "report --all: status $?"
grep -q '__libc_start_main .*libc.so.6\|libc.so.6.*' "$W/report" ||
	fail "no frame of the board's C library"
for name in app static; do
	exe=$W/app
	[ $name = app ] || exe=$W/app.static
	as_expected "leakwrap(7), $name" "$exe" "$W/$name.log@1"
done
file=$(readelf -h "$W/arm/bin/leakwrap" | sed -n 's/.*Machine: *//p')
equal "the tool's machine" "$file" "$(readelf -h /bin/sh | sed -n 's/.*Machine: *//p')"

# The installed makefile fragment relinks a program.
cat >"$W/Makefile" <<'END'
include arm/share/leakwrap/linker-flags.mk
made: app.o vendor.a
	$(CC) -o $@ $^ $(LEAKWRAP_LDFLAGS) $(LEAKWRAP_LDLIBS)
END
(
	unset MAKEFLAGS MFLAGS
	cd "$W" && make -s CC="$gcc" made
) >"$W/made.out" 2>&1 || fail "linker-flags.mk: $(tail -n 5 "$W/made.out")"
cp "$W/made" "$W/app"
leaks "linker-flags.mk"

# A board may lack libgcc_s.so.1.
mv "$W/app.o" "$W/program.o"
relink "$gcc" -static-libgcc
! readelf -d "$W/app" | grep NEEDED | grep libgcc ||
	fail "libgcc_s is needed in spite of -static-libgcc"
leaks "-static-libgcc"
echo "leakwrap(7) has $(grep -c -v -e '^#' -e '^$' "$W/commands") commands"
