#!/bin/sh
# make install puts its files under DESTDIR and PREFIX, and make uninstall removes exactly these.
. tests/lib.sh

install_make() {
	(
		unset MAKEFLAGS MFLAGS MAKELEVEL
		make -s O="$O" CC="$CC" "$@" >"$W/make.out" 2>&1
	) || fail "make $*: $(cat "$W/make.out")"
}

# Files that were there before stay.
mkdir -p "$W/stage/usr/lib/pkgconfig" "$W/stage/usr/share/other"
echo other >"$W/stage/usr/lib/libother.a"
echo other >"$W/stage/usr/lib/pkgconfig/other.pc"
(cd "$W/stage" && find . ! -type d | sort) >"$W/before"

install_make PREFIX=/usr DESTDIR="$W/stage" install
for file in lib/libleakwrap.a lib/pkgconfig/leakwrap.pc share/leakwrap/linker-flags.mk \
	share/leakwrap/ldflags \
	share/leakwrap/generator/generate.sh include/leakwrap.h; do
	[ -f "$W/stage/usr/$file" ] || fail "not installed: $file"
	equal "mode of $file" "$(stat -c %a "$W/stage/usr/$file")" 644
done
for page in leakwrap.3 leakwrap-dump.5 leakwrap.7 leakwrap-bare.7 leakwrap-options.7; do
	[ -f "$W/stage/usr/share/man/man${page##*.}/$page" ] || fail "not installed: $page"
done
cmp "$O/libleakwrap.a" "$W/stage/usr/lib/libleakwrap.a" || fail "another libleakwrap.a"
cmp linker-flags.mk "$W/stage/usr/share/leakwrap/linker-flags.mk" || fail "another linker-flags.mk"
if [ -f tools/tools.mk ]; then
	[ -x "$W/stage/usr/bin/leakwrap" ] || fail "not installed: bin/leakwrap"
	for page in tools/man/*.1; do
		[ ! -f "$page" ] || [ -f "$W/stage/usr/share/man/man1/${page##*/}" ] ||
			fail "not installed: ${page##*/}"
	done
fi

# A second installation changes nothing. No file names the stage.
(cd "$W/stage" && find . ! -type d | sort) >"$W/after"
install_make PREFIX=/usr DESTDIR="$W/stage" install
(cd "$W/stage" && find . ! -type d | sort) | cmp "$W/after" - || fail "a second install adds files"
! grep -r -l -F -e "$W" "$W/stage/usr/lib/pkgconfig" "$W/stage/usr/share" ||
	fail "the stage is named in a file"

install_make PREFIX=/usr DESTDIR="$W/stage" uninstall
(cd "$W/stage" && find . ! -type d | sort) | diff "$W/before" - >"$W/difference" ||
	fail "after uninstall: $(cat "$W/difference")"
[ ! -e "$W/stage/usr/share/leakwrap" ] || fail "share/leakwrap is left"
[ -d "$W/stage/usr/share/other" ] || fail "a folder of others was removed"

# make uninstall succeeds even if nothing is installed.
install_make PREFIX=/usr DESTDIR="$W/stage" uninstall

# From a folder with a space only the tool links.
install_make prefix="$W/a space" install
grep -q 'PREFIX has a space: .* only leakwrap cc can' "$W/make.out" || fail "no word of the space"
echo 'int main(void) { return 3; }' >"$W/three.c"
"$W/a space/bin/leakwrap" cc -- "$CC" -o "$W/three" "$W/three.c" || fail "cc from a space"
LEAKWRAP_OPTIONS=log=$W/three.log "$W/three"
dump_is_whole "$W/three.log" 1 || fail "no dump of what was linked from a space"

# If the tool's libraries are missing, make installs the runtime, and says which packages the tool
# needs.
mkdir "$W/runtime"
for part in built-by lacks wrap report entry process include generator ldflags libleakwrap.a \
	leakwrap.pc every_c.c every_c.o every_cxx.c every_cxx.o; do
	cp -a "$O/$part" "$W/runtime/" || fail "no $part"
done
(O=$W/runtime install_make HOSTCC="cc -nostdinc" PREFIX=/usr DESTDIR="$W/bare" install) || exit 1
grep -q 'the tool is not built: .*apt-get install .*libdw-dev' "$W/make.out" ||
	fail "not said: $(cat "$W/make.out")"
(cd "$W/bare/usr" && find . ! -type d ! -path '*/generator/*' | sort | tr '\n' ' ') >"$W/after"
equal "without the tool" "$(cat "$W/after")" \
	"$(printf './%s ' include/leakwrap.h \
		lib/leakwrap/keep_allocator.o \
		lib/leakwrap/libleakwrap_apart.a lib/leakwrap/libleakwrap_apart.so \
		lib/leakwrap/libleakwrap_process.a lib/leakwrap/libleakwrap_process.so \
		lib/leakwrap/libleakwrap_process_members.a lib/libleakwrap.a \
		lib/pkgconfig/leakwrap.pc \
		share/leakwrap/ldflags share/leakwrap/linker-flags.mk share/man/man3/leakwrap.3 \
		share/man/man5/leakwrap-dump.5 share/man/man7/leakwrap-bare.7 \
		share/man/man7/leakwrap-options.7 share/man/man7/leakwrap.7)"

# A compiler for the tool that is not there is named.
(O=$W/runtime install_make HOSTCC=nosuch PREFIX=/usr DESTDIR="$W/no-compiler" install) || exit 1
grep -q 'the tool is not built: HOSTCC=nosuch does not run$' "$W/make.out" ||
	fail "not said: $(cat "$W/make.out")"

# make takes a name with a space for two.
! make -s O="$W/a folder" lib >"$W/make.out" 2>&1 || fail "a build in a folder with a space"
grep -q "O='${W#"$PWD"/}/a folder' is no folder that make can use" "$W/make.out" ||
	fail "not said: $(cat "$W/make.out")"
[ "$(wc -l <"$W/make.out")" = 1 ] || fail "more is said: $(cat "$W/make.out")"
