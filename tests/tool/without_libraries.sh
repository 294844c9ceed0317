#!/bin/sh
# The tool builds without libmicrohttpd, ncurses, libcurl, zstd and libiberty. What needs one of the
# first four says so in one line. Without libiberty names of Rust and D stay raw. All else works.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need zstd

# A compiler for which the headers of these libraries do not exist.
host=${HOSTCC:-cc}
machine=$("$host" -print-multiarch 2>/dev/null)
mkdir -p "$W/include/any" "$W/include/machine" "$W/built" || exit 2
# link_headers FOLDER INTO: links to all headers but those that are hidden.
link_headers() {
	for header in "$1"/*; do
		case ${header##*/} in
		"$machine" | microhttpd.h | curl | zstd*.h | curses.h | ncurses* | libiberty) ;;
		*) ln -s "$header" "$W/include/$2/" ;;
		esac
	done
}
link_headers /usr/include any
link_headers "/usr/include/$machine" machine
cat >"$W/cc" <<END
#!/bin/sh
exec "$host" -nostdinc -isystem "$("$host" -print-file-name=include)" \\
	-isystem "$W/include/any" -isystem "$W/include/machine" "\$@"
END
chmod +x "$W/cc"
echo '#include <stdlib.h>' | "$W/cc" -E - >/dev/null 2>&1 ||
	skip "this compiler has its headers elsewhere"

# The objects that need none of the libraries are those of the ordinary build.
cp -Rp "$O/tools" "$W/built/" || exit 2
grep -l __has_include tools/*/*.c | while read -r source; do
	rm -f "$W/built/${source%.c}.o"
done
MAKEFLAGS='' make -s O="$W/built" HOSTCC="$W/cc" tool >"$W/make" 2>&1 || fail "$(cat "$W/make")"
! grep -v '^  HOST' "$W/make" || fail "make says more"
lw=$W/built/leakwrap
if command -v readelf >/dev/null; then
	! readelf -d "$lw" | grep -e microhttpd -e curl -e curses -e tinfo -e zstd ||
		fail "the tool needs a library whose header is missing"
fi
# lacks LIBRARY ARGUMENT...: the command says in one line that it lacks LIBRARY.
lacks() {
	library=$1
	shift
	status_is 2 "$lw" "$@"
	equal "lines of $1" "$(wc -l <"$W/err")" 1
	said "^leakwrap: .*this leakwrap was built without $library"
}
lacks ncurses top
lacks libmicrohttpd serve
lacks libcurl push --to=http://localhost:1
build leaky tests/tool/leaky.c
LEAKWRAP_OPTIONS=log="$W/log" "$W/leaky" || fail leaky
zstd -q "$W/log" -o "$W/log.zst"
lacks libzstd report "$W/log.zst"
status_is 0 "$lw" report "$W/log"
shows 'live in'
named_dump _RNvC3app3run _D3app3runFiZv _ZN3app3runEi main >"$W/log"
status_is 0 "$lw" report "$W/log"
shows ' _RNvC3app3run  '
shows ' _D3app3runFiZv  '
shows ' app::run(int)  '
