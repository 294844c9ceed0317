# shellcheck shell=sh
# said.sh - reads the needs of a unit test from its first comment, and compiles its sources.

# said UNIT WHAT: prints the unit's sources, its flags, or the bits that a word must have. There may
# be several lines of them.
said() {
	sed -n "s,^ \* $2: \(.*\),\1,p" "$1" | sed 's, \*/$,,'
}

# objects KIND SOURCE...: sets objects to the objects of the sources, which "compile KIND OBJECT
# SOURCE" makes. The units of a test share them.
objects() {
	kind=$1 objects=
	shift
	for file; do
		object=$W/$kind/${file%.c}.o
		mkdir -p "${object%/*}"
		[ -e "$object" ] || compile "$kind" "$object" "$file"
		objects="$objects $object"
	done
}
