#!/bin/sh
# leakwrap.pc carries every flag: for C programs by --libs, for other programs by its variables.
#
# Variables have the flags of static C++ programs, and of static programs of lld.
. tests/lib.sh

command -v pkg-config >"$W/which" 2>&1 || skip "no pkg-config"

(
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -s O="$O" CC="$CC" PREFIX=/opt/leakwrap DESTDIR="$W/stage" install \
		>"$W/install.out" 2>&1
) || fail "make install: $(cat "$W/install.out")"

PKG_CONFIG_PATH=$W/stage/opt/leakwrap/lib/pkgconfig
export PKG_CONFIG_PATH

pkg-config --validate leakwrap || fail "leakwrap.pc is not valid"
for flag in $(leakwrap_flags LEAKWRAP_LDFLAGS); do
	pkg-config --libs leakwrap | tr ' ' '\n' | grep -qxF -e "$flag" || fail "--libs lacks $flag"
done

options="-O2 -fno-omit-frame-pointer -fno-builtin"
# shellcheck disable=SC2046,SC2086
{
	$CC $options -o "$W/c" tests/link/leaks.c $(pkg-config --cflags --libs leakwrap) &&
		$CC $options -static -o "$W/c_static" tests/link/leaks.c \
			$(pkg-config --libs leakwrap) &&
		g++ -std=gnu++17 $options -o "$W/cxx" tests/link/leaks.cpp \
			$(pkg-config --libs leakwrap) &&
		g++ -std=gnu++17 $options -static -o "$W/cxx_static" tests/link/leaks.cpp \
			$(pkg-config --variable=cxx_libs leakwrap) &&
		g++ -std=gnu++17 $options -static-libstdc++ -o "$W/cxx_own" tests/link/leaks.cpp \
			$(pkg-config --variable=cxx_static_libs leakwrap)
} || fail "does not link"

programs="c c_static cxx cxx_static cxx_own"
if command -v ld.lld >"$W/which" 2>&1; then
	# shellcheck disable=SC2046,SC2086
	$CC $options -fuse-ld=lld -static -o "$W/c_lld_static" tests/link/leaks.c \
		$(pkg-config --libs leakwrap) \
		$(pkg-config --variable=lld_flags leakwrap) || fail "does not link with lld"
	programs="$programs c_lld_static"
fi

# Some build systems sort the libraries that they see. Meson groups them, from the first to the
# last. gold and ld.lld take no group in another group.
grouped() {
	printf '%s\n' "$@" | awk '
		{ word[NR] = $0 }
		/^(-Wl,)?-l/ || /\.a$/ && !/^-Wl,/ { last = NR; if (!first) first = NR }
		END { for (i = 1; i <= NR; i++)
			print (i == first ? "-Wl,--start-group " : "") word[i] \
				(i == last ? " -Wl,--end-group" : "")
		}'
}
# libtool puts them behind the project's own libraries.
behind() {
	project=$1
	shift
	printf '%s\n' "$@" | grep -e '^-Wl,'
	echo "$project"
	printf '%s\n' "$@" | grep -v -e '^-Wl,'
}
# shellcheck disable=SC2086
$CC $options -c -o "$W/leaks.o" tests/link/leaks.c || fail "cannot compile"
ar rcs "$W/leaks.a" "$W/leaks.o"
# shellcheck disable=SC2046,SC2086
$CC $options -u main -o "$W/c_behind" $(behind "$W/leaks.a" $(pkg-config --libs leakwrap)) ||
	fail "does not link behind the libraries of a project"
programs="$programs c_behind"
for linker in gold lld; do
	command -v ld.$linker >"$W/which" 2>&1 || continue
	# shellcheck disable=SC2046,SC2086
	$CC $options -u main -fuse-ld=$linker -o "$W/c_$linker" \
		$(grouped "$W/leaks.a" $(pkg-config --libs leakwrap)) ||
		fail "does not link with $linker in a group"
	programs="$programs c_$linker"
done

for program in $programs; do
	LEAKWRAP_OPTIONS=log=$W/$program.log "$W/$program" >"$W/out"
	equal "$program: exit status" $? 5
	sed -n 's/^leaks //p' "$W/out" >"$W/leaks"
	while read -r function bytes blocks; do
		equal "$program: $function" "$(site_by "$W/$program.log" 1 "$function")" \
			"$bytes $blocks"
	done <"$W/leaks"
done

# The commands of leakwrap(7) trace the whole process, too.
manual_text wrap/man/leakwrap.7 >"$W/manual"
cp "$W/leaks.o" "$W/app.o"
cd "$W" || exit 2
sed -n '/^ *gcc -o app app\.o [$@]/ { :more
/\\$/ { N; s/\\\n/ /; b more
}
p }' manual | sed "s|/usr/local|$W/stage/opt/leakwrap|g; s|^ *gcc |$CC |" >commands
grep -q short_libs commands || fail "leakwrap(7) has no command with short_libs"
grep -q lleakwrap_process commands || fail "leakwrap(7) has no command with -lleakwrap_process"
while read -r command; do
	rm -f app
	eval "$command" || fail "does not link: $command"
	LEAKWRAP_OPTIONS=log=$W/app.log ./app >out
	dump_lines app.log 1 | grep -qx 'coverage process' || fail "not the whole process: $command"
	rm app.log
done <commands
