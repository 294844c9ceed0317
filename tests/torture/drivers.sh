# shellcheck shell=sh
# drivers.sh - builds small programs on prebuilt archives, whose error paths are tested.
#
# Sourced after tests/lib.sh.

# shellcheck disable=SC2034 # for the tests
drivers="sqlite lua xml expat json png zlib yaml"

archive() {
	found=$($CC -print-file-name="lib$1.a")
	[ -e "$found" ] || return 1
	echo "$found"
}

# build_driver NAME: builds $W/NAME, traced. Returns 1 if its archive is not installed.
build_driver() {
	includes='' more=''
	case $1 in
	sqlite) archives=sqlite3 more='-lz -lm' ;;
	lua) archives=lua5.4 includes=-I/usr/include/lua5.4 more=-lm ;;
	xml)
		archives=xml2 includes=-I/usr/include/libxml2
		more="$(libraries_behind libxml-2.0) -lm -lstdc++"
		;;
	expat) archives=expat more=-lm ;;
	json) archives=json-c ;;
	png) archives='png16 z' more=-lm ;;
	zlib) archives=z ;;
	yaml) archives=yaml ;;
	esac
	files=
	for name in $archives; do
		files="$files $(archive "$name")" || return 1
	done
	# The archives refer to tmpnam and the like, of which the linker warns.
	# shellcheck disable=SC2086 # lists of files and flags
	build "$1" "tests/torture/$1.c" $includes $files $more 2>"$W/$1.err" ||
		fail "$(cat "$W/$1.err")"
}
