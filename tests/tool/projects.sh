#!/bin/sh
# Projects that know nothing of leakwrap relink through leakwrap cc without an edit, and report.
#
# They are Debian sources, fetched for the test.
# timeout: 400
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
. tests/tool/tool.sh
need apt-get tar make

# apt-get uses lists of its own here. Sources come from the places that packages come from.
mkdir -p "$W/apt/parts" "$W/apt/lists/partial" "$W/apt/cache/archives/partial"
for sources in /etc/apt/sources.list.d/*.sources; do
	[ -f "$sources" ] &&
		sed 's/^Types: .*/Types: deb-src/' "$sources" >"$W/apt/parts/${sources##*/}"
done
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
	sed -n 's/^deb /deb-src /p' >"$W/apt/sources.list"
get() {
	apt-get -q -o Dir::Etc::sourcelist="$W/apt/sources.list" \
		-o Dir::Etc::sourceparts="$W/apt/parts" -o Dir::State::lists="$W/apt/lists" \
		-o Dir::Cache="$W/apt/cache" -o APT::Sandbox::User=root "$@" \
		>"$W/apt/log" 2>&1
}
get update || skip "the package sources cannot be reached"
(cd "$W" && get --download-only source figlet tree hello) ||
	skip "the sources cannot be fetched: $(tail -n 1 "$W/apt/log")"

# unpack NAME: unpacks the source NAME into $W/NAME.
unpack() {
	mkdir "$W/$1"
	tar -C "$W/$1" --strip-components=1 -xf "$(ls "$W/$1"_*.orig.tar.?z)" ||
		fail "cannot unpack $1"
}
built() {
	status_is 0 "$lw" audit --strict "$1"
	rm -f "$W/log"
}
cc="$lw cc -- $CC"

unpack figlet
make -s -C "$W/figlet" CC="$cc" LD="$cc" figlet >"$W/make" 2>&1 ||
	fail "figlet: $(tail -n 5 "$W/make")"
built "$W/figlet/figlet"
LEAKWRAP_OPTIONS=log="$W/log" "$W/figlet/figlet" -d "$W/figlet/fonts" leak >"$W/out" ||
	fail "figlet does not run"
status_is 0 "$lw" report "$W/log"
shows 'figlet, process'
shows ' live in [0-9,]* blocks at [0-9]* call sites'

unpack tree
make -s -C "$W/tree" CC="$cc" tree >"$W/make" 2>&1 || fail "tree: $(tail -n 5 "$W/make")"
built "$W/tree/tree"
LEAKWRAP_OPTIONS=log="$W/log" "$W/tree/tree" "$W/tree" >"$W/out" || fail "tree does not run"
status_is 0 "$lw" report "$W/log"
shows 'tree, process'

# hello has a configure script, which tries dozens of small programs.
unpack hello
(cd "$W/hello" && ./configure -q CC="$cc" && make -s) >"$W/make" 2>&1 ||
	fail "hello: $(tail -n 5 "$W/make")"
built "$W/hello/hello"
equal "hello" "$(LEAKWRAP_OPTIONS=log="$W/log" "$W/hello/hello")" "Hello, world!"
status_is 0 "$lw" report "$W/log"
shows 'hello, process'
