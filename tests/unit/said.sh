# shellcheck shell=sh
# said.sh - reads the needs of a unit test from its first comment.

# said UNIT WHAT: prints the unit's sources, or its flags. There may be several lines of them.
said() {
	sed -n "s,^ \* $2: \(.*\),\1,p" "$1" | sed 's, \*/$,,'
}
