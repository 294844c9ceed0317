# shellcheck shell=sh
# said.sh - what a unit (unit_*.c) needs, as it says itself in its first comment.

# said UNIT WHAT: its sources, or its flags.
said() {
	sed -n "s,^ \* $2: \(.*\),\1,p" "$1" | sed 's, \*/$,,'
}
