# shellcheck shell=sh
# unit_needs.sh - reads the needs of a unit test from its first comment, and compiles its sources.

# unit_need UNIT WHAT: prints the unit's sources, its flags, or the bits that a word must have, in
# one line or several. In the place of a group's name come its sources (source_groups).
unit_need() {
	sed -n "s,^ \* $2: \(.*\),\1,p" "$1" | sed 's, \*/$,,' | awk '
		NR == FNR { name = $1; $1 = ""; group[name] = group[name] $0; next }
		{ for (i = 1; i <= NF; i++) if ($i ~ /^@/ && $i in group) $i = group[$i] }
		{ print }' tests/unit/source_groups -
}

# compile_objects KIND SOURCE...: sets objects to the objects of the sources, which "compile KIND
# OBJECT SOURCE" makes. The units of a test share them.
compile_objects() {
	kind=$1 objects=
	shift
	for file; do
		object=$W/$kind/${file%.c}.o
		mkdir -p "${object%/*}"
		[ -e "$object" ] || compile "$kind" "$object" "$file"
		objects="$objects $object"
	done
}
